// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package stackstatus moves the status of a Stack from one state to the next, and describes
// that in conditions and events. It is the only code that sets fields of a status. Its
// functions modify only the Stack that they get, and read nothing else: no client, no clock.
//
// What they set is exact for kstatus: Reconciling and Stalled are present only when true, and
// observedGeneration advances once the generation is applied or found to be impossible.
package stackstatus
