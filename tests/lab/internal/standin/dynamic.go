// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"errors"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

// installedFile is what an installation of the dependencies of a program in the lab
// language leaves in the directory of the program.
const installedFile = "installed"

// dynamic stands in for the dynamic providers of programs in Node.js. Like these, it only
// starts in a directory that has the dependencies of the program.
func dynamic() Package {
	return Package{
		Name: "pulumi-nodejs", Version: "0.1.0",
		Resources: map[string]Resource{"pulumi-nodejs:dynamic:Resource": {Free: true, Nameless: true}},
		Start: func() error {
			if _, err := os.Stat(installedFile); err != nil {
				return errors.New("there is no module '@pulumi/pulumi/cmd/dynamic-provider'")
			}
			return nil
		},
		Open: func(property.Map) (Place, error) { return nowhere{}, nil },
	}
}
