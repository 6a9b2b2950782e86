// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestNumbersAreMaskedHoweverTheyArePrinted(t *testing.T) {
	for name, test := range map[string]struct{ secret, text, want string }{
		"as it is":              {"4711471147", "it is 4711471147", "it is ***"},
		"as Go prints a float":  {"4711471147", "(input was 4.711471147e+09)", "(input was ***)"},
		"with a fraction":       {"4711471147", "4711471147.000000", "***"},
		"a fraction":            {"0.00000123456", "1.23456e-06", "***"},
		"a negative one":        {"-4711471147", "-4.711471147e+09", "***"},
		"more than fits":        {"12345678901234567890", "1.2345678901234567e+19 12345678901234567000", "*** ***"},
		"one with an exponent":  {"4.5e12", "4500000000000", "***"},
		"a newline at its end":  {"4711471147\n", "4.711471147e+09", "***"},
		"in JSON":               {`{"pin": 4711471147}`, "4.711471147e+09", "***"},
		"a small one in JSON":   {`{"port": 5432}`, "port 5432", "port 5432"},
		"a short one as a word": {"47", "47 147 47.0", "*** 147 ***.0"},
		"a hexadecimal number":  {"0x10000000", "268435456", "268435456"},
		"infinity is no number": {"Infinity", "+Inf", "+Inf"},
		"one that is too big":   {"1e999", "+Inf 1e999", "+Inf ***"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(New([]string{test.secret}).Apply(test.text)).To(Equal(test.want))
		})
	}
}
