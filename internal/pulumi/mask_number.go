// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
)

// numberForms lists the ways in which a value that is a number may be printed:
// every number of Pulumi is a floating-point one, which Go prints with an exponent
// where it is big.
func numberForms(value string) []string {
	if !regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$`).MatchString(value) {
		return nil
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return nil // too big to be a number of Pulumi
	}
	forms := []string{
		fmt.Sprint(number), // as %v and %g
		fmt.Sprintf("%e", number), fmt.Sprintf("%E", number), fmt.Sprintf("%G", number), fmt.Sprintf("%f", number),
		strconv.FormatFloat(number, 'f', -1, 64), strconv.FormatFloat(number, 'e', -1, 64),
		fmt.Sprint(float32(number)),
	}
	if text, err := json.Marshal(number); err == nil {
		forms = append(forms, string(text))
	}
	return forms
}
