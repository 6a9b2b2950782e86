// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"strings"

	"github.com/blang/semver"
)

// providerType is the prefix of provider types.
const providerType = "pulumi:providers:"

// record is an object with a fixed set of keys.
type record struct {
	// what names the object in messages.
	what string
	keys []string
}

func sections() record {
	return record{"a Program", []string{"config", "configuration", "description", "outputs", "packages", "pulumi", "resources", "variables"}}
}

func declaration() record {
	return record{"a config value", []string{"default", "items", "name", "secret", "type", "value"}}
}

func resource() record {
	return record{"a resource", []string{"defaultProvider", "get", "name", "options", "properties", "type"}}
}

func resourceOptions() record {
	return record{"the options of a resource", []string{
		"additionalSecretOutputs", "aliases", "customTimeouts", "deleteBeforeReplace", "deletedWith", "dependsOn", "envVarMappings",
		"hideDiffs", "ignoreChanges", "import", "parent", "pluginDownloadURL", "protect", "provider", "providers", "replaceOnChanges",
		"replaceWith", "replacementTrigger", "retainOnDelete", "version",
	}}
}

func call() record {
	return record{"fn::invoke", []string{"arguments", "function", "options", "return"}}
}

func callOptions() record {
	return record{"the options of fn::invoke", []string{"dependsOn", "parent", "pluginDownloadURL", "provider", "version"}}
}

// ofProject lists keys of a Pulumi.yaml and of a YAML plugin, which a Program does not
// have.
func ofProject() []string {
	return []string{"author", "backend", "components", "license", "main", "name", "namespace", "options", "plugins", "requiredPulumiVersion",
		"runtime", "sdks", "stackConfigDir", "template", "version", "website"}
}

// check reports the unknown keys of an object.
func (r record) check(at *position, invalid *findings) {
	if at == nil || !at.isObject() {
		return // the parser reports the type
	}
	at.each(func(field *position) {
		if slices.Contains(r.keys, field.key) {
			return
		}
		same := slices.IndexFunc(r.keys, func(key string) bool { return strings.EqualFold(key, field.key) })
		switch {
		case same >= 0:
			invalid.add(field, "is not a key of %s: it is written %s", r.what, r.keys[same])
		case r.what == sections().what && slices.Contains(ofProject(), field.key):
			invalid.add(field, "is not a key of %s: the project is that of the Stack", r.what)
		default:
			invalid.add(field, "is not a key of %s, which are %s", r.what, strings.Join(r.keys, ", "))
		}
	})
}

// checkKeys checks everything that is not an expression.
func checkKeys(top *position, invalid *findings) {
	sections().check(top, invalid)
	record{"pulumi", []string{"requiredVersion"}}.check(top.get("pulumi"), invalid)
	if config := top.get("config"); config != nil {
		config.each(func(at *position) { checkDeclaration(at, invalid) })
	}
	if resources := top.get("resources"); resources != nil {
		resources.each(func(at *position) { checkResource(at, invalid) })
	}
	checkURNs(top.get("resources"), invalid)
	checkDefaultProviders(top, invalid)
	checkArguments(top.get("variables"), invalid)
	checkArguments(top.get("outputs"), invalid)
}

func checkResource(at *position, invalid *findings) {
	resource().check(at, invalid)
	record{"get", []string{"id", "state"}}.check(at.get("get"), invalid)
	checkOptions(at.get("options"), invalid)
	checkProperties(at, invalid)
	checkArguments(at.get("properties"), invalid)
	checkArguments(at.get("get"), invalid)
	if !at.isObject() {
		return
	}
	token := at.get("type")
	name, ok := token.text()
	if !ok {
		return // the parser reports it
	}
	if !isToken(name) {
		invalid.add(token, "is no type of a resource: it is written as aws:s3:Bucket")
		return
	}
	if strings.HasPrefix(name, providerType) {
		if id := at.get("get").get("id"); id != nil {
			invalid.add(id, "cannot be given for a provider: Pulumi reads none")
		}
		return
	}
	if mappings := at.get("options").get("envVarMappings"); literalKind(mappings) == "an object" && len(mappings.node.Content) > 0 {
		// Pulumi accepts an empty one, and fails on any other.
		invalid.add(mappings, "is for providers only, which have a type such as pulumi:providers:aws")
	}
}

// checkVersion checks the version of a plugin. A path is not a version.
func checkVersion(at *position, invalid *findings) {
	if version, ok := at.text(); ok && version != "" {
		if _, err := semver.ParseTolerant(version); err != nil {
			invalid.add(at, "is no version, such as 1.2.3")
		}
	}
}
