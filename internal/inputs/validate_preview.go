// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import v1 "github.com/flux-pulumi/pulumi-controller/api/v1"

// validatePreviewOf checks that only a preview names the Stack that it is of, in a CRD of an
// earlier version too.
func validatePreviewOf(spec v1.StackSpec) error {
	if spec.PreviewOf != nil && !spec.Preview {
		return &InvalidError{"spec.previewOf", "belongs to a Stack with preview: true: set preview, or remove previewOf"}
	}
	return nil
}
