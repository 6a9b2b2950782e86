// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"context"
	"fmt"
	"strings"
	"sync"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

// Place holds the resources of a package.
type Place interface {
	// Create creates the thing and returns its ID.
	Create(ctx context.Context, thing Thing) (id string, err error)
	// Read returns the current inputs, and false if the thing is gone.
	Read(ctx context.Context, thing Thing) (inputs property.Map, found bool, err error)
	// Update updates the thing to its inputs.
	Update(ctx context.Context, thing Thing) error
	// Delete removes the thing. It succeeds if the thing is already gone.
	Delete(ctx context.Context, thing Thing) error
}

// server is a running stand-in.
type server struct {
	pkg    Package
	schema string

	configured sync.Mutex
	config     property.Map
	place      Place
}

// New builds the provider of a package.
func New(pkg Package) (p.Provider, error) {
	schema, err := schemaOf(pkg)
	if err != nil {
		return p.Provider{}, err
	}
	s := &server{pkg: pkg, schema: schema}
	return p.Provider{
		GetSchema:   s.getSchema,
		CheckConfig: s.checkConfig,
		DiffConfig:  s.diffConfig,
		Configure:   s.configure,
		Invoke:      s.invoke,
		Check:       s.check,
		Diff:        s.diff,
		Create:      s.create,
		Read:        s.read,
		Update:      s.update,
		Delete:      s.delete,
		Construct:   s.construct,
		Cancel:      func(context.Context) error { return nil },
	}, nil
}

func (s *server) getSchema(context.Context, p.GetSchemaRequest) (p.GetSchemaResponse, error) {
	return p.GetSchemaResponse{Schema: s.schema}, nil
}

func (s *server) checkConfig(_ context.Context, req p.CheckRequest) (p.CheckResponse, error) {
	return p.CheckResponse{Inputs: req.Inputs}, nil
}

// diffConfig never replaces resources because of a change of the configuration.
func (s *server) diffConfig(context.Context, p.DiffRequest) (p.DiffResponse, error) {
	return p.DiffResponse{}, nil
}

func (s *server) configure(_ context.Context, req p.ConfigureRequest) error {
	place, err := s.pkg.Open(req.Args)
	if err != nil {
		return fmt.Errorf("stand-in for %s: %w", s.pkg.Name, err)
	}
	s.configured.Lock()
	defer s.configured.Unlock()
	s.config, s.place = req.Args, place
	return nil
}

func (s *server) invoke(_ context.Context, req p.InvokeRequest) (p.InvokeResponse, error) {
	function, ok := s.pkg.Functions[string(req.Token)]
	if !ok {
		return p.InvokeResponse{}, fmt.Errorf("the stand-in for %s has no function %s", s.pkg.Name, req.Token)
	}
	return p.InvokeResponse{Return: function.Of(req.Args)}, nil
}

func (s *server) construct(ctx context.Context, req p.ConstructRequest) (p.ConstructResponse, error) {
	component, ok := s.pkg.Components[string(req.Urn.Type())]
	if !ok {
		return p.ConstructResponse{}, fmt.Errorf("the stand-in for %s has no component %s", s.pkg.Name, req.Urn.Type())
	}
	return p.ProgramConstruct(ctx, req, component)
}

// thing collects what an operation needs.
func (s *server) thing(urn resource.URN, id string, inputs property.Map) (Thing, Place, error) {
	token := string(urn.Type())
	table, ok := s.pkg.Resources[token]
	if !ok && s.pkg.Other != nil {
		table, ok = *s.pkg.Other, true
	}
	if !ok {
		return Thing{}, nil, fmt.Errorf("the stand-in for %s has no resource %s", s.pkg.Name, token)
	}
	s.configured.Lock()
	defer s.configured.Unlock()
	return Thing{Token: token, Resource: table, ID: id, Name: urn.Name(), URN: string(urn), Inputs: inputs, Config: s.config}, s.place, nil
}

func (s *server) check(_ context.Context, req p.CheckRequest) (p.CheckResponse, error) {
	thing, _, err := s.thing(req.Urn, "", req.Inputs)
	if err != nil {
		return p.CheckResponse{}, err
	}
	return p.CheckResponse{Inputs: withSecrets(thing.Resource, req.Inputs), Failures: check(thing.Resource, req.Inputs)}, nil
}

func (s *server) diff(_ context.Context, req p.DiffRequest) (p.DiffResponse, error) {
	thing, _, err := s.thing(req.Urn, req.ID, req.Inputs)
	if err != nil {
		return p.DiffResponse{}, err
	}
	return diff(thing.Resource, req.OldInputs, req.Inputs, req.IgnoreChanges), nil
}

func (s *server) create(ctx context.Context, req p.CreateRequest) (p.CreateResponse, error) {
	thing, place, err := s.thing(req.Urn, "", req.Properties)
	if err != nil {
		return p.CreateResponse{}, err
	}
	if !req.DryRun {
		if thing.ID, err = place.Create(ctx, thing); err != nil {
			return p.CreateResponse{}, err
		}
	}
	return p.CreateResponse{ID: thing.ID, Properties: outputs(thing, req.DryRun)}, nil
}

// read keeps those outputs in the state that are created once, such as a password.
func (s *server) read(ctx context.Context, req p.ReadRequest) (p.ReadResponse, error) {
	thing, place, err := s.thing(req.Urn, req.ID, req.Inputs)
	if err != nil {
		return p.ReadResponse{}, err
	}
	inputs, found, err := place.Read(ctx, thing)
	if err != nil || !found {
		return p.ReadResponse{}, err
	}
	thing.Inputs = inputs
	return p.ReadResponse{ID: req.ID, Inputs: inputs, Properties: keep(outputs(thing, false), req.Properties, thing.Resource)}, nil
}

func (s *server) update(ctx context.Context, req p.UpdateRequest) (p.UpdateResponse, error) {
	thing, place, err := s.thing(req.Urn, req.ID, req.Inputs)
	if err != nil {
		return p.UpdateResponse{}, err
	}
	if !req.DryRun {
		if err := place.Update(ctx, thing); err != nil {
			return p.UpdateResponse{}, err
		}
	}
	return p.UpdateResponse{Properties: keep(outputs(thing, false), req.State, thing.Resource)}, nil
}

func (s *server) delete(ctx context.Context, req p.DeleteRequest) error {
	inputs := req.OldInputs
	if inputs.Len() == 0 {
		inputs = req.Properties
	}
	thing, place, err := s.thing(req.Urn, req.ID, inputs)
	if err != nil {
		return err
	}
	if thing.protected() {
		return fmt.Errorf("%s cannot be deleted: set deletionProtection to false, and update it before", thing.Name)
	}
	return place.Delete(ctx, thing)
}

// keep replaces new outputs by those in the state if they are created once.
func keep(now, state property.Map, table Resource) property.Map {
	for name, output := range table.Outputs {
		if value, ok := state.GetOk(name); ok && output.Once {
			now = now.Set(name, value)
		}
	}
	return now
}

// idOf returns the beginning of an ID of the thing.
func (t Thing) idOf() string {
	if t.Resource.Prefix != "" {
		return t.Resource.Prefix
	}
	return strings.ToLower(t.Name)
}
