// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// stackSettings is what the stack's settings leave to the CLI.
type stackSettings struct {
	// provider is the secrets provider named by the run or the program, empty for the
	// backend's default.
	provider string
	// unencrypted are the secrets, by key, that only the CLI can encrypt.
	unencrypted map[string]string
	// foreignSecrets is set if the program has secrets that only the CLI can decrypt, or
	// environments of Pulumi ESC.
	foreignSecrets bool
	// leastRandom is how many random characters a name that a provider makes up ends in at least.
	leastRandom int
}

// writeStackFile adds the run's config, secrets provider and environments to the
// program's Pulumi.<stack>.yaml, creating it if needed. Without any of these, it leaves
// the file as it is.
func writeStackFile(
	ctx context.Context, root *os.Root, place placedProject, stack string, r run.Run,
) (stackSettings, error) {
	file := stackFile(place, stack)
	settings, err := readStackFile(root, place.project, file)
	if err != nil {
		return stackSettings{}, err
	}
	if r.SecretsProvider != "" {
		if err := setProvider(ctx, settings, file, r); err != nil {
			return stackSettings{}, err
		}
	}
	left := stackSettings{
		provider: settings.SecretsProvider, foreignSecrets: hasForeignSecrets(settings, r),
		leastRandom: leastRandom(autonaming(place.project, settings, r)),
	}
	if len(r.Config)+len(r.Secrets)+len(r.Environments) == 0 && r.SecretsProvider == "" {
		return left, nil
	}
	if err := addEnvironments(settings, r); err != nil {
		return stackSettings{}, err
	}
	if err := checkConfigKeys(place.project.Name.String(), r); err != nil {
		return stackSettings{}, err
	}
	if err := mergeConfig(settings, place.project.Name.String(), r.Config); err != nil {
		return stackSettings{}, err
	}
	left.unencrypted, err = addSecrets(ctx, settings, file, place.project.Name.String(), r)
	if err != nil {
		return stackSettings{}, err
	}
	return left, saveStackFile(root, file, settings)
}

func hasForeignSecrets(settings *workspace.ProjectStack, r run.Run) bool {
	return settings.Environment != nil || len(r.Environments) > 0 || settings.Config.HasSecureValue()
}

// writeEnvironments writes a Pulumi.<stack>.yaml with only the run's environments, for
// operations that work from the state alone: the environments may provide the
// credentials.
func writeEnvironments(root *os.Root, place placedProject, stack string, r run.Run) error {
	settings := &workspace.ProjectStack{Config: make(config.Map)}
	if err := addEnvironments(settings, r); err != nil || len(r.Environments) == 0 {
		return err
	}
	return saveStackFile(root, stackFile(place, stack), settings)
}

// addEnvironments appends the run's environments to the program's, so that their values
// win.
func addEnvironments(settings *workspace.ProjectStack, r run.Run) error {
	if len(r.Environments) == 0 {
		return nil
	}
	if !grammar.HasEnvironments(r.Backend) {
		return errors.New("spec.environment needs Pulumi Cloud, and the backend is another")
	}
	settings.Environment = settings.Environment.Append(r.Environments...)
	return nil
}

func saveStackFile(root *os.Root, file string, settings *workspace.ProjectStack) error {
	text, err := encoding.Marshalers[path.Ext(file)].Marshal(settings)
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	if err := root.MkdirAll(path.Dir(file), 0o700); err != nil {
		return workspaceError{fmt.Errorf("writing the workspace: %w", err)}
	}
	return writeFile(root, file, text)
}

// stackFile is where the CLI looks for the stack's settings.
func stackFile(place placedProject, stack string) string {
	name := workspace.ProjectFile + "." + stack + path.Ext(place.file)
	return path.Join(path.Dir(place.file), filepath.ToSlash(place.project.StackConfigDir), name)
}

func readStackFile(root *os.Root, project *workspace.Project, file string) (*workspace.ProjectStack, error) {
	text, err := readBounded(root, file)
	if errors.Is(err, fs.ErrNotExist) {
		return &workspace.ProjectStack{Config: make(config.Map)}, nil
	}
	if err != nil {
		return nil, err
	}
	return parseStackFile(project, file, text)
}

// parseStackFile parses a file of the program, which may contain anything.
func parseStackFile(project *workspace.Project, file string, text []byte) (*workspace.ProjectStack, error) {
	// Like the SDK's own file loader.
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	settings, err := workspace.LoadProjectStackBytes(nil, project, text, file, encoding.Marshalers[path.Ext(file)])
	if err != nil {
		return nil, fmt.Errorf("the stack settings %s of the program: %w", file, err)
	}
	return settings, nil
}

// mergeConfig sets plain values. The spec wins over the program.
func mergeConfig(settings *workspace.ProjectStack, project string, values map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key, err := configKey(project, name)
		if err != nil {
			return err
		}
		value, err := configValue(values[name])
		if err != nil {
			return fmt.Errorf("config %q: %w", name, err)
		}
		settings.Config[key] = value
	}
	return nil
}

// configValue keeps the JSON type: the text "5" is different from the number 5.
func configValue(raw json.RawMessage) (config.Value, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return config.Value{}, fmt.Errorf("not JSON: %w", err)
	}
	switch value := value.(type) {
	case string:
		return config.NewTypedValue(value, config.TypeString), nil
	case bool:
		return config.NewTypedValue(strconv.FormatBool(value), config.TypeBool), nil
	case json.Number:
		return numberValue(value.String()), nil
	case nil:
		return config.Value{}, errors.New("null is not a value")
	}
	return config.NewObjectValue(string(bytes.TrimSpace(raw))), nil
}

// numberValue keeps as text a number that Go's types, or YAML, would write differently:
// 1234567.5 would become 1.2345675e+06 for the program.
func numberValue(text string) config.Value {
	if _, err := strconv.Atoi(text); err == nil {
		return config.NewTypedValue(text, config.TypeInt)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && strconv.FormatFloat(f, 'g', -1, 64) == text {
		return config.NewTypedValue(text, config.TypeFloat)
	}
	return config.NewTypedValue(text, config.TypeString)
}
