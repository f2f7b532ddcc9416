package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/internal/check"
)

// token is the text of one value, from JSON or from a line.
type token struct {
	text   string
	quoted bool // the text was in quotes in JSON; they are removed
	line   bool
}

// tokenOf removes the quotes of a text, and leaves any other value unchanged.
func tokenOf(raw json.RawMessage) token {
	var s string
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return token{text: s, quoted: true}
	}
	return token{text: string(raw)}
}

// null reports whether the token stands for an unknown value.
func (t token) null() bool {
	if t.line {
		return t.text == "?"
	}
	return t.text == "null" && !t.quoted
}

// input is an object that is being read.
type input struct {
	name  string                     // name of the type, for errors
	value map[string]json.RawMessage // fields that no call has taken yet
	asked []string                   // keys of the fields of the type
	err   error
}

// object begins to read an object. It returns false for other JSON.
func (in *input) object(data []byte) bool {
	return json.Unmarshal(data, &in.value) == nil && in.value != nil
}

// run reads the fields, and refuses an input with fields left over.
func (in *input) run(fields func(*Codec)) error {
	fields(&Codec{mode: reading, in: in})
	for _, key := range slices.Sorted(maps.Keys(in.value)) {
		in.fail(check.Bad(in.name, key, tokenOf(in.value[key]).text, "one of the fields "+strings.Join(in.asked, ", ")))
	}
	return in.err
}

// fail keeps the first error.
func (in *input) fail(err error) {
	if in.err == nil {
		in.err = err
	}
}

// read reads the value of a key into a form, if the input has the key, and removes it from the input.
func (in *input) read(key string, f form) {
	in.asked = append(in.asked, key)
	raw, ok := in.value[key]
	if delete(in.value, key); !ok {
		return
	}
	if t := tokenOf(raw); !f.parse(t) {
		in.fail(check.Bad(in.name, key, t.text, f.want(false)))
	}
}
