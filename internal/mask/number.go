// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// manyDigits is the number of digits that identify a number: no other one has the same.
const manyDigits = 6

// numberForms lists the ways in which a numeric value may be printed: Pulumi has only
// floating-point numbers, and Go prints big ones with an exponent. A form that is shorter
// than the value could be any number and is left out unless it has many digits: "0001"
// must not mask every 1.
func numberForms(value string) []string {
	if value == "" || !strings.ContainsRune("+-0123456789", rune(value[0])) || !regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$`).MatchString(value) {
		return nil
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return nil // too big to be a number in Pulumi
	}
	forms := []string{
		fmt.Sprint(number), // %v and %g
		fmt.Sprintf("%e", number), fmt.Sprintf("%E", number), fmt.Sprintf("%G", number), fmt.Sprintf("%f", number),
		strconv.FormatFloat(number, 'f', -1, 64), strconv.FormatFloat(number, 'e', -1, 64),
		fmt.Sprint(float32(number)),
	}
	if text, err := json.Marshal(number); err == nil {
		forms = append(forms, string(text))
	}
	return slices.DeleteFunc(forms, func(form string) bool { return len(form) < len(value) && mantissa(form) < manyDigits })
}

// mantissa counts the digits of a number before its exponent, without leading zeros.
func mantissa(number string) int {
	digits, _, _ := strings.Cut(strings.ToLower(number), "e")
	return len(strings.TrimLeft(strings.NewReplacer(".", "", "-", "", "+", "").Replace(digits), "0"))
}
