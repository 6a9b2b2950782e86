// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/cloud"
)

// holdPoll is how often a held operation checks whether it may continue.
const holdPoll = 50 * time.Millisecond

// operation is one call of the engine for one thing, with all that the program asked of
// it.
type operation struct {
	cloud *cloud.Cloud
	op    cloud.Op
	id    string
	urn   string
	args  Args
}

// newOperation takes the cloud from the provider's configuration and the URN from the context.
func newOperation(ctx context.Context, op cloud.Op, id string, args Args) (operation, error) {
	directory, err := cloud.New(infer.GetConfig[Config](ctx).Directory)
	if err != nil {
		return operation{}, err
	}
	return operation{cloud: directory, op: op, id: id, urn: urnFrom(ctx), args: args}, nil
}

// run does the operation: begin, delay, hang or failure, change, done. The change is made
// if and only if the last entry is "done", or the process was killed between the change
// and that entry. Package cloud explains this order.
func (o operation) run(ctx context.Context, change func() error) error {
	if err := o.record(cloud.Begin, ""); err != nil {
		return err
	}
	ballast, err := o.ballast()
	if err != nil {
		return o.end(cloud.Failed, err)
	}
	defer runtime.KeepAlive(ballast)
	if err := o.wait(ctx); err != nil {
		return o.end(cloud.Cancelled, err)
	}
	if warning := o.args.Warnings[string(o.op)]; warning != "" {
		p.GetLogger(ctx).Warning(o.echo(errors.New(warning)).Error())
	}
	if message := o.args.Failures[string(o.op)]; message != "" {
		return o.end(cloud.Failed, errors.New(message))
	}
	if err := change(); err != nil {
		return o.end(cloud.Failed, err)
	}
	return nil
}

// done records that the change was made, and the error that the engine gets nevertheless
// ("" for none).
func (o operation) done(message string) error {
	return o.record(cloud.Done, message)
}

// ballast takes the memory that the program asked for.
func (o operation) ballast() ([]byte, error) {
	mib, err := parseBallast(o.args.Ballast[string(o.op)])
	if err != nil {
		return nil, err
	}
	ballast := make([]byte, mib<<20)
	for page := 0; page < len(ballast); page += os.Getpagesize() {
		ballast[page] = 1 // the kernel gives it only once it is written
	}
	return ballast, nil
}

// wait takes as long as the program asked for, which is for ever with a hang. Only a hang
// ends with ctx.
func (o operation) wait(ctx context.Context) error {
	if err := o.delay(string(o.op)); err != nil {
		return err
	}
	if valueOf(o.args.Hold) == string(o.op) {
		if err := o.hold(ctx); err != nil {
			return err
		}
	}
	if valueOf(o.args.Hang) != string(o.op) {
		return nil
	}
	<-ctx.Done()
	return fmt.Errorf("%s of thing %s was hanging: %w", o.op, o.id, ctx.Err())
}

// delay deliberately takes no context. pulumi-go-provider cancels that of a call when the
// engine cancels, which is at the first signal to the CLI, and when the CLI dies; a real
// cloud finishes what has started.
func (o operation) delay(key string) error {
	delay, err := parseDelay(o.args.Delays[key])
	if err != nil {
		return err
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	<-timer.C
	return nil
}

// hold does not end with ctx either, but tells the cloud that ctx has ended.
func (o operation) hold(ctx context.Context) error {
	deadline, stopping := time.Now().Add(maxDelay), ctx.Done()
	for time.Now().Before(deadline) {
		if released, err := o.cloud.Released(); released || err != nil {
			return err
		}
		select {
		case <-stopping:
			stopping = nil // only once
			if err := o.cloud.TellToStop(); err != nil {
				return err
			}
		case <-time.After(holdPoll):
		}
	}
	return fmt.Errorf("%s of thing %s was not released within %s", o.op, o.id, maxDelay)
}

// end records how an operation ended that changed nothing, and returns the error for the
// engine. Only that error may echo the secret: the journal stays clean, so that a test
// can look for leaks in all it reads.
func (o operation) end(phase cloud.Phase, err error) error {
	return errors.Join(o.echo(err), o.record(phase, err.Error()))
}

func (o operation) echo(err error) error {
	if !valueOf(o.args.EchoInput) {
		return err
	}
	return fmt.Errorf("%w (input was %q)", err, valueOf(o.args.SecretValue))
}

func (o operation) record(phase cloud.Phase, message string) error {
	return o.cloud.Record(cloud.Entry{
		Time: time.Now().UTC(), PID: os.Getpid(), Op: o.op, Phase: phase,
		ID: o.id, Name: o.args.Name, URN: o.urn, Error: message,
	})
}
