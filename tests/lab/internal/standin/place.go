// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/property"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/cloud"
)

// CloudVariable is the environment variable with the directory of the cloud. It is no
// configuration, because the programs and Stacks of the documents have to run as printed.
const CloudVariable = "STAND_IN_CLOUD"

// directory is a Place in the lab's cloud. There, a thing has the name of its resource,
// its inputs as JSON as value and its type as tag. Secret inputs are not kept, so that a
// test can search the whole directory for leaks.
type directory struct {
	cloud *cloud.Cloud
}

// openDirectory opens the cloud of CloudVariable.
func openDirectory() (Place, error) {
	dir := os.Getenv(CloudVariable)
	if dir == "" {
		return nil, fmt.Errorf("%s is not set: it names the directory that is the cloud", CloudVariable)
	}
	opened, err := cloud.New(dir)
	return directory{opened}, err
}

func (d directory) Create(_ context.Context, thing Thing) (string, error) {
	id, err := cloud.NewID(thing.idOf())
	if err != nil {
		return "", err
	}
	thing.ID = id
	kept, err := inCloud(thing)
	if err != nil {
		return "", err
	}
	return id, d.do(thing, cloud.Create, func() error { return d.cloud.Create(id, kept) })
}

func (d directory) Read(_ context.Context, thing Thing) (property.Map, bool, error) {
	inputs, found := thing.Inputs, true
	err := d.do(thing, cloud.Read, func() error {
		kept, err := d.cloud.Read(thing.ID)
		if errors.Is(err, cloud.ErrNotFound) {
			found = false
			return nil
		}
		if err != nil || kept.Value == nil {
			return err
		}
		inputs, err = withCloud(inputs, *kept.Value)
		return err
	})
	return inputs, found, err
}

func (d directory) Update(_ context.Context, thing Thing) error {
	kept, err := inCloud(thing)
	if err != nil {
		return err
	}
	return d.do(thing, cloud.Update, func() error { return d.cloud.Update(thing.ID, kept) })
}

func (d directory) Delete(_ context.Context, thing Thing) error {
	return d.do(thing, cloud.Delete, func() error { return d.cloud.Delete(thing.ID) })
}

// do makes the change between the two journal entries that package cloud requires.
func (d directory) do(thing Thing, op cloud.Op, change func() error) error {
	record := func(phase cloud.Phase, message string) error {
		return d.cloud.Record(cloud.Entry{
			Time: time.Now().UTC(), PID: os.Getpid(), Op: op, Phase: phase,
			ID: thing.ID, Name: thing.Name, URN: thing.URN, Error: message,
		})
	}
	if err := record(cloud.Begin, ""); err != nil {
		return err
	}
	if err := change(); err != nil {
		return errors.Join(err, record(cloud.Failed, err.Error()))
	}
	return record(cloud.Done, "")
}

// inCloud returns what the cloud keeps of a thing.
func inCloud(thing Thing) (cloud.Thing, error) {
	kept := map[string]any{}
	for name, value := range thing.Inputs.All {
		if !value.HasSecrets() {
			kept[name] = plain(value)
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return cloud.Thing{}, fmt.Errorf("keeping %s: %w", thing.URN, err)
	}
	value := string(text)
	return cloud.Thing{Name: thing.Name, Value: &value, Tags: map[string]string{"type": thing.Token}}, nil
}

// withCloud returns the inputs with the current values of the cloud, which does not have
// the secret ones.
func withCloud(inputs property.Map, text string) (property.Map, error) {
	var kept map[string]any
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return property.Map{}, fmt.Errorf("reading from the cloud: %w", err)
	}
	now := mapOfValues(kept)
	for name, value := range inputs.All {
		if value.HasSecrets() {
			now = now.Set(name, value)
		}
	}
	return now, nil
}

// nowhere is a Place of resources that only exist in the state.
type nowhere struct{}

func (nowhere) Create(_ context.Context, thing Thing) (string, error) {
	return cloud.NewID(thing.idOf())
}

func (nowhere) Read(_ context.Context, thing Thing) (property.Map, bool, error) {
	return thing.Inputs, true, nil
}

func (nowhere) Update(context.Context, Thing) error { return nil }

func (nowhere) Delete(context.Context, Thing) error { return nil }
