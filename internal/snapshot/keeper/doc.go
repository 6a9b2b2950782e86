// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package keeper lets a process keep snapshots in a directory that it may only read: another
// process, which may write there, does it.
//
// In the pod of a run, no program may change what other runs get, and all processes of its
// container have the same user. That container therefore mounts the volume of the snapshots
// read-only, and a second container, with the keeper, mounts it read-write. For each
// snapshot, of the program and of each policy pack, the keeper takes one connection, on a Unix socket
// in a volume of the pod, and from it one key. The client makes all connections before it starts
// anything else, and names the key before it installs anything: code of others, even if it got hold
// of the connection, could at most write the snapshot that its own installation decides anyway. The
// client closes the connection before the program starts. The keeper ends with the last one.
//
// What a client sends is, in this order: the key, and for how long to wait for others; for each snapshot that cannot be used, a size of
// zero; for one to keep, its size, and its content until the end. The keeper answers each with a
// byte for the length of a text, which is empty unless something has failed, and the text. Before the
// first answer, it may send another byte that says that it waits.
package keeper
