// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
)

// getRaw prints the objects as the API server returns them: a named object by itself,
// others as a list.
func (s *session) getRaw(ctx context.Context, api client.Client, flags *getFlags, kind cluster.Kind, selector statusSelector, args []string, options []client.ListOption) error {
	objects, err := kind.ListRaw(ctx, api, options...)
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		return s.noObjects(kind, args, flags.allNamespaces)
	}
	items := []any{}
	for i := range objects {
		if selector.selects(rows.Conditions(&objects[i])) {
			objects[i].SetManagedFields(nil)
			items = append(items, objects[i].Object)
		}
	}
	if len(args) > 0 && len(items) == 1 {
		return printValue(s.Out, flags.output, items[0])
	}
	return printValue(s.Out, flags.output, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}

// addOutputFlag adds --output to a command, which then rejects an unknown format before
// it does anything else. The formats are json, yaml and those that are named.
func addOutputFlag(cmd *cobra.Command, flags *pflag.FlagSet, output *string, usage string, more ...string) {
	formats := append([]string{"json", "yaml"}, more...)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *output == "" {
			return nil
		}
		return checkOutput(*output, formats...)
	}
	flags.StringVarP(output, "output", "o", "", usage)
	completeValues(cmd, "output", formats...)
}

// printValue prints a value as json or yaml.
func printValue(out io.Writer, format string, value any) error {
	var text []byte
	var err error
	switch format {
	case "json":
		if text, err = json.MarshalIndent(value, "", "  "); err == nil {
			text = append(escapeUnseen(text), '\n')
		}
	case "yaml":
		text, err = toYAML(value)
	default:
		return checkOutput(format, "json", "yaml")
	}
	if err != nil {
		return fmt.Errorf("printing as %s: %w", format, err)
	}
	_, err = out.Write(text)
	return err
}

// toYAML marshals a value so that it survives a round trip. YAML parsers reject some
// characters of a string, and take others for line breaks, unless they are escaped.
func toYAML(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(escapeUnseen(text))
}

// escapeUnseen escapes the invisible characters of a JSON text. It leaves characters
// beyond 16 bits alone: they would need a surrogate pair, which only JSON understands.
func escapeUnseen(text []byte) []byte {
	var escaped []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r < unicode.MaxASCII || r > math.MaxUint16 || unicode.IsGraphic(r) {
			escaped = append(escaped, text[:size]...)
		} else {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		}
		text = text[size:]
	}
	return escaped
}

// checkOutput rejects an --output that the command does not support.
func checkOutput(format string, allowed ...string) error {
	for _, known := range allowed {
		if format == known {
			return nil
		}
	}
	return fmt.Errorf("unknown output format %q, must be one of %v", format, allowed)
}
