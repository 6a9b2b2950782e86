// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// anyElement is the element of a path that stands for any.
const anyElement = "*"

// ParsePath parses the path of a property as Pulumi does, into names and indexes. A test compares
// the two: the controller has nothing of Pulumi's code.
func ParsePath(path string) ([]any, error) {
	var elements []any
	if path == "" || path[0] == '.' {
		return nil, errors.New("it begins with no name")
	}
	for rest := path; rest != ""; {
		var element any
		var err error
		switch {
		case strings.HasPrefix(rest, `["`):
			element, rest, err = quoted(rest[2:])
		case rest[0] == '[':
			element, rest, err = index(rest[1:])
		default:
			rest = strings.TrimPrefix(rest, ".")
			if rest == "" {
				return nil, errors.New(`it ends with no name: an empty one is [""]`)
			}
			if rest[0] == '.' {
				return nil, errors.New(`it has a name that is empty: write that as [""]`)
			}
			if rest[0] == '[' {
				continue // of old providers: Pulumi takes it as well
			}
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			element, rest = rest[:end], rest[end:]
		}
		if err != nil {
			return nil, err
		}
		elements = append(elements, element)
	}
	return elements, nil
}

// quoted parses the rest of a quoted name, and the bracket after it.
func quoted(text string) (any, string, error) {
	var name strings.Builder
	for at := 0; at < len(text); at++ {
		switch {
		case text[at] == '\\' && strings.HasPrefix(text[at+1:], `"`):
			name.WriteByte('"')
			at++
		case text[at] != '"':
			name.WriteByte(text[at])
		case !strings.HasPrefix(text[at+1:], "]"):
			return nil, "", errors.New("a bracket is not closed")
		default:
			return name.String(), text[at+2:], nil
		}
	}
	return nil, "", errors.New("a quote is not closed")
}

// index parses the rest of an index, and the bracket after it.
func index(text string) (any, string, error) {
	inside, rest, closed := strings.Cut(text, "]")
	if !closed {
		return nil, "", errors.New("a bracket is not closed")
	}
	if inside == anyElement {
		return anyElement, rest, nil
	}
	number, err := strconv.Atoi(inside)
	if err != nil {
		return nil, "", fmt.Errorf("[%s] is no index: a name in brackets needs quotes", inside)
	}
	return number, rest, nil
}

// contains reports whether the path is at or below the other one.
func contains(path, other []any) bool {
	if len(other) < len(path) {
		return false
	}
	for n, element := range path {
		if element != anyElement && element != other[n] {
			return false
		}
	}
	return true
}
