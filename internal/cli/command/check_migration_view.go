// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/migration"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

// printMigration prints what becomes of each Stack as a table, then what there is to say about some of
// them, and then what there is to do for the cluster.
func (s *session) printMigration(report *migration.Report) error {
	var lines [][]string
	for _, stack := range report.Stacks {
		lines = append(lines, []string{stack.Namespace, stack.Name, stack.Operator, string(stack.Outcome), stack.Run, table.Shorten(stack.Why)})
	}
	if len(lines) > 0 {
		table.Print(s.Out, []string{"NAMESPACE", "NAME", "OPERATOR", "OUTCOME", "RUN", "WHY"}, lines)
	}
	page := &migrationPage{}
	for _, stack := range report.Stacks {
		page.stack(stack)
	}
	if _, err := s.Out.Write([]byte(page.text.String())); err != nil {
		return err
	}
	s.sayWhatToDo(report)
	return nil
}

// migrationPage has the details of Stacks.
type migrationPage struct{ text strings.Builder }

func (p *migrationPage) stack(of migration.Stack) {
	if of.Outcome == migration.Managed || of.Outcome == migration.Unreadable {
		return
	}
	fmt.Fprintf(&p.text, "\nStack %s/%s\n", of.Namespace, of.Name)
	p.line("applied", strings.Join(of.Fields.Applied, ", "))
	p.line("without effect here", strings.Join(of.Fields.WithoutEffect, ", "))
	p.line("not supported", strings.Join(of.Fields.Unsupported, ", "))
	for _, text := range of.EditFirst {
		p.line("edit first", text)
	}
	for _, text := range of.Notes {
		p.line("note", text)
	}
}

func (p *migrationPage) line(about, text string) {
	if text != "" {
		fmt.Fprintf(&p.text, "  %s: %s\n", about, table.Visible(text))
	}
}

// sayWhatToDo says what there is to do beside the Stacks.
func (s *session) sayWhatToDo(report *migration.Report) {
	for _, of := range report.Operators {
		if len(of.Stop) == 0 {
			s.Successf("Deployment %s/%s (%s) is stopped", of.Namespace, of.Name, of.Image)
			continue
		}
		s.Actionf("Deployment %s/%s (%s): stop it with %s", of.Namespace, of.Name, of.Image, strings.Join(of.Stop, " && "))
	}
	for _, of := range report.Programs {
		s.Failuref("Program %s/%s: %s", of.Namespace, of.Name, of.Fault)
	}
	for _, of := range report.ByHand() {
		s.Warningf("%s %s/%s belongs to no Stack: nothing here takes its place, and the migration deletes it", of.Kind, of.Namespace, of.Name)
	}
	for _, text := range report.Unreadable {
		s.Warningf("not looked at: %s", text)
	}
	for _, text := range report.Prerequisites {
		s.Failuref("%s", text)
	}
	if report.Ready() {
		s.Successf("%s", report.Summary())
		return
	}
	s.Failuref("%s", report.Summary())
}
