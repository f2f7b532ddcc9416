package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/internal/check"
)

// token is the text of one value, in JSON or in a line.
type token struct {
	text   string
	raw    string // with its quotes, in a line
	quoted bool   // the text was in quotes; they are removed
	line   bool
}

// null reports whether the token stands for an unknown value.
func (t token) null() bool {
	if t.line {
		return t.text == "?"
	}
	return t.text == "null" && !t.quoted
}

// input is an object or a line that is being read.
type input struct {
	name  string // name of the type, for errors
	line  bool
	words []token // bare words of a line
	keys  []string
	value map[string]token // fields that no call has taken yet
	asked []string         // keys of the fields of the type
	err   error
}

// run reads the fields, and refuses an input with fields left over.
func (in *input) run(fields func(*Codec)) error {
	c := Codec{mode: reading, in: in}
	fields(&c)
	for _, t := range in.words {
		in.fail(check.Bad(in.name, "word", t.text, "no more words"))
	}
	for _, key := range in.keys {
		if t, left := in.value[key]; left {
			in.fail(check.Bad(in.name, key, t.text, "one of the fields "+strings.Join(in.asked, ", ")))
		}
	}
	return in.err
}

func (in *input) fail(err error) {
	if in.err == nil {
		in.err = err
	}
}

func (in *input) bad(key string, t token, want string) {
	in.fail(check.Bad(in.name, key, t.text, want))
}

// take returns the value of a key, and removes it from the input.
func (in *input) take(key string) (token, bool) {
	in.asked = append(in.asked, key)
	t, ok := in.value[key]
	delete(in.value, key)
	return t, ok
}

// word returns the next bare word.
func (in *input) word() (token, bool) {
	if len(in.words) == 0 {
		in.fail(check.Bad(in.name, "line", "", "one more word"))
		return token{}, false
	}
	t := in.words[0]
	in.words = in.words[1:]
	return t, true
}

// kind demands that the next bare word is among the given words.
func (in *input) kind(words []string) {
	t, ok := in.word()
	for _, w := range words {
		if w == t.text {
			return
		}
	}
	if ok {
		in.bad("line", t, "one of: "+strings.Join(words, ", "))
	}
}

// rest passes all remaining fields to a value of another package.
func (in *input) rest(v wiredReader) {
	var b []byte
	for _, t := range in.words {
		b = append(append(b, t.raw...), ' ')
	}
	in.words = nil
	for _, key := range in.keys {
		t, left := in.value[key]
		switch delete(in.value, key); {
		case !left:
		case in.line:
			b = append(append(append(append(b, key...), '='), t.raw...), ' ')
		case t.quoted:
			b = append(text{&t.text}.json(append(strconv.AppendQuote(b, key), ':')), ',')
		default:
			b = append(append(append(strconv.AppendQuote(b, key), ':'), t.text...), ',')
		}
	}
	if b = b[:max(len(b)-1, 0)]; in.line {
		in.fail(v.UnmarshalText(b))
		return
	}
	in.fail(v.UnmarshalJSON(append(append([]byte{'{'}, b...), '}')))
}

// object splits the token into its fields.
func (t token) object(name string) (*input, bool) {
	in := &input{name: name, line: t.line, value: map[string]token{}}
	if t.line {
		return in, t.fields(in)
	}
	if t.quoted || !json.Valid([]byte(t.text)) {
		return in, false
	}
	d := json.NewDecoder(strings.NewReader(t.text))
	if open, _ := d.Token(); open != json.Delim('{') {
		return in, false
	}
	for d.More() {
		key, _ := d.Token() // valid, as are the tokens that follow
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return in, false
		}
		in.add(key.(string), jsonToken(raw))
	}
	return in, true
}

// add adds a field, and refuses a key that is given twice.
func (in *input) add(key string, t token) {
	if _, twice := in.value[key]; twice {
		in.bad(key, t, "each field once")
	}
	in.keys, in.value[key] = append(in.keys, key), t
}

// jsonToken removes the quotes of a text, and leaves any other value unchanged.
func jsonToken(raw json.RawMessage) token {
	var s string
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return token{text: s, quoted: true}
	}
	return token{text: string(raw)}
}

// list splits the token into its items.
func (t token) list() (items []token, ok bool) {
	if t.line {
		rest, more := t.raw, t.raw != ""
		for ok = true; more && ok; {
			var item token
			item, rest, more, ok = cut(rest, ',')
			items = append(items, item)
		}
		return items, ok
	}
	var raw []json.RawMessage
	ok = json.Unmarshal([]byte(t.text), &raw) == nil && !t.quoted
	for _, r := range raw {
		items = append(items, jsonToken(r))
	}
	return items, ok
}

// inner returns the text between brackets.
func (t token) inner() (string, bool) {
	n := len(t.text)
	if t.quoted || n < 2 || t.text[0] != '(' || t.text[n-1] != ')' {
		return "", false
	}
	return t.text[1 : n-1], true
}

// fields splits a line into its bare words and its fields.
func (t token) fields(in *input) bool {
	rest, ok := t.inner()
	for more := rest != ""; more && ok; {
		var item token
		key, value, pair := strings.Cut(rest, "=")
		if pair && !strings.ContainsAny(key, " \"(") {
			item, rest, more, ok = cut(value, ' ')
			in.add(key, item)
			continue
		}
		item, rest, more, ok = cut(rest, ' ')
		in.words = append(in.words, item)
	}
	return ok
}

// cut returns the text before the first separator outside quotes and brackets, and the text after the separator. ok
// is false if quotes or brackets have no end.
func cut(s string, sep byte) (t token, rest string, more, ok bool) {
	depth, end := 0, 0
	for ; end < len(s) && !(s[end] == sep && depth == 0); end++ {
		switch s[end] {
		case '"':
			quoted, err := strconv.QuotedPrefix(s[end:])
			if err != nil {
				return token{}, "", false, false
			}
			end += len(quoted) - 1
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	t = token{text: s[:end], raw: s[:end], line: true}
	if plain, err := strconv.Unquote(t.text); err == nil && t.text[0] == '"' {
		t.text, t.quoted = plain, true
	}
	if more = end < len(s); more {
		rest = s[end+1:]
	}
	return t, rest, more, depth == 0
}
