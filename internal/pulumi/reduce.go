// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
)

// reduction says what a reducer keeps of a JSON text, in bytes.
type reduction struct {
	// at is the depth of the objects and arrays whose members are properties.
	at int
	// property bounds a property, and properties those of one object. If wanted is set,
	// other properties are not kept either.
	property, properties int
	wanted               func(name string) bool
	// around bounds the object around those objects, such as the state of a resource.
	around int
	// total bounds the whole.
	total int
}

// maxText bounds texts that are no properties, such as messages, in bytes. It is more than
// is kept of a message (maxRawText) even if each of its characters is escaped, so that a
// message that is cut here is known to be cut.
const maxText = 128 << 10

// maxLate bounds a property after those that are together too big, in bytes.
const maxLate = 4 << 10

// reducer copies a JSON text that comes in pieces of any size, and cuts what is too big:
// properties of resources, and outputs, are as big as the files that a program reads into
// them. The copy is JSON if the text is.
//
//   - A property that is too big is replaced as a whole by a mark, as a part of a secret
//     could not be masked.
//   - If all properties of an object are too big, the last are left out, and so are the last
//     members of the object around it.
//   - Any other text is cut after maxText.
type reducer struct {
	most  reduction
	out   []byte
	depth int

	// inString is set between quotes. escape is the number of bytes that complete an escape,
	// started that its kind is next. length is what is kept of a string outside of properties,
	// full that the rest of it is left out.
	inString, started, full bool
	escape, length          int
	// token is the beginning of a string, to recognize a secret. key is where the last string
	// outside of properties begins in out.
	token []byte
	key   int

	// isArray says what the current container of properties is. starts are the lengths of
	// out at its start, and at that of the one around it.
	isArray bool
	starts  [2]int
	// inProperty is set within a property, which begins in out at property. cut is what was
	// read of it, and cutting is set once it is too big.
	inProperty, cutting bool
	property            int
	cut                 cutProperty
	hash                hash.Hash
	// dropping is the depth of the container of which the rest is left out, 0 for none.
	dropping int
	// over is set if the text is too big all the same.
	over bool
	// secrets is the number of secrets in all properties, also in those that are not kept.
	secrets int
}

func newReducer(most reduction) *reducer { return &reducer{most: most, hash: sha256.New()} }

// Write reads a piece of the text. It never fails.
func (r *reducer) Write(piece []byte) (int, error) {
	for rest := piece; len(rest) > 0 && !r.over; {
		n := 1
		switch {
		case !r.inString:
			r.structure(rest[0])
		case r.started || r.escape > 0:
			r.escaped(rest[0])
		case rest[0] == '\\':
			r.started = true
			r.characters(rest[:1])
		case rest[0] == '"':
			r.endString()
		default:
			if n = bytes.IndexAny(rest, `"\`); n < 0 {
				n = len(rest)
			}
			r.characters(rest[:n])
		}
		rest = rest[n:]
	}
	return len(piece), nil
}

// structure reads a byte outside of strings.
func (r *reducer) structure(c byte) {
	switch c {
	case '"':
		r.inString, r.full, r.length, r.token = true, false, 0, r.token[:0]
		if !r.inProperty {
			r.key = len(r.out)
		}
		r.emit(c)
	case '{', '[':
		r.emit(c)
		r.open(c == '[')
	case '}', ']':
		r.endProperty()
		if r.dropping == r.depth {
			r.dropping = 0
		}
		r.depth--
		r.emit(c)
	case ',':
		r.endProperty()
		r.leaveOut()
		r.emit(c)
		r.startProperty(r.isArray)
	case ':':
		r.emit(c)
		r.startProperty(!r.isArray)
	default:
		r.emit(c)
	}
}

func (r *reducer) open(isArray bool) {
	r.depth++
	switch r.depth {
	case r.most.at - 1:
		r.starts[0] = len(r.out)
	case r.most.at:
		r.starts[1], r.isArray = len(r.out), isArray
		r.startProperty(isArray)
	}
}

// leaveOut leaves out the rest of a container that is too big.
func (r *reducer) leaveOut() {
	if r.dropping > 0 {
		return
	}
	if (r.depth == r.most.at-1 && len(r.out)-r.starts[0] > r.most.around) ||
		(r.depth == r.most.at && len(r.out)-r.starts[1] > 2*r.most.properties) {
		r.dropping = r.depth
	}
}

// startProperty starts a property, if this is the place for one.
func (r *reducer) startProperty(isPlace bool) {
	if !isPlace || r.depth != r.most.at || r.inProperty {
		return
	}
	r.inProperty, r.property, r.cut = true, len(r.out), cutProperty{}
	r.hash.Reset()
	r.cutting = r.most.wanted != nil && !r.isArray && !r.most.wanted(r.name())
}

// name is the name of the property that starts.
func (r *reducer) name() string {
	var name string
	if json.Unmarshal(bytes.TrimRight(r.out[min(r.key, len(r.out)):], " \t\r\n:"), &name) != nil {
		return ""
	}
	return name
}

func (r *reducer) endProperty() {
	if !r.inProperty || r.depth != r.most.at {
		return
	}
	r.inProperty = false
	if r.cutting {
		r.cutting, r.cut.Hash = false, hex.EncodeToString(r.hash.Sum(nil))
		r.emit(r.cut.mark()...)
	}
}

// escaped reads a byte of an escape, which is kept or left out as a whole.
func (r *reducer) escaped(c byte) {
	switch {
	case !r.started:
		r.escape--
	case c == 'u':
		r.escape = 4
	}
	if r.started = false; !r.full {
		r.length++
		r.emit(c)
	}
}

// characters reads bytes of a string, or the beginning of an escape.
func (r *reducer) characters(text []byte) {
	if r.inProperty {
		most := len(sig.Secret) + 1 - len(r.token)
		r.token = append(r.token, text[:min(max(most, 0), len(text))]...)
		r.emit(text...)
		return
	}
	room := maxText - r.length
	if r.full = r.full || len(text) > room; r.full && r.depth == r.most.at {
		r.over = true // two names could become the same
	}
	kept := text[:min(max(room, 0), len(text))]
	r.length += len(kept)
	r.emit(kept...)
}

func (r *reducer) endString() {
	if r.inString = false; r.inProperty && string(r.token) == sig.Secret {
		r.cut.Secrets++
		r.secrets++
	}
	r.emit('"')
}

func (r *reducer) emit(text ...byte) {
	if r.dropping > 0 || r.over {
		return
	}
	if r.inProperty {
		r.cut.Bytes += len(text)
		_, _ = r.hash.Write(text) // never fails
		most := r.most.property
		if r.property-r.starts[1] > r.most.properties {
			most = min(most, maxLate)
		}
		if r.cutting = r.cutting || len(r.out)+len(text)-r.property > most; r.cutting {
			r.out = r.out[:r.property]
			return
		}
	}
	if r.over = len(r.out)+len(text) > r.most.total; r.over {
		r.out = nil
		return
	}
	r.out = append(r.out, text...)
}

// cutSign is the only name in the object that replaces a property, and belongs to nothing
// else.
const cutSign = "c9b1f0f6-6f0e-4c43-9e0d-5b4f0e1d7a52"

// cutProperty is what is known of a property that was too big to keep.
type cutProperty struct {
	// Bytes of its JSON, and the number of secrets in it.
	Bytes, Secrets int
	// Hash of its JSON. It must not be shown: a reader could guess what it is of.
	Hash string
}

func (c cutProperty) mark() []byte {
	return fmt.Appendf(nil, `{"%s":{"Bytes":%d,"Secrets":%d,"Hash":%q}}`, cutSign, c.Bytes, c.Secrets, c.Hash)
}

// cutOf returns what is known of a property, if it was too big to keep.
func cutOf(property json.RawMessage) (cutProperty, bool) {
	if !bytes.HasPrefix(property, []byte(`{"`+cutSign+`":`)) {
		return cutProperty{}, false
	}
	var mark map[string]cutProperty
	err := json.Unmarshal(property, &mark)
	return mark[cutSign], err == nil
}

// hasSecrets reports whether a property that was too big to keep has secrets, by its decoded mark.
func hasSecrets(cut map[string]any) bool { return fmt.Sprint(cut["Secrets"]) != "0" }
