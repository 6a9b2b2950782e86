// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package programs reconciles Programs: it reports in the status of each whether it is valid.
//
// It runs nothing, and nothing waits for it: a Stack validates its Program itself. What is wrong
// with a program is for internal/program/check to find, and does not belong here.
package programs
