// Package registry reads policies from text: each is a name and fields, which its package lists once.
package registry

import (
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/internal/kv"
)

// Entry is a policy that has a text.
type Entry[P any] struct {
	Name   string
	Fields []kv.Field // pointers into a copy of the policy
	Built  func() P   // the copy, as the fields now stand
}

// Text writes a policy: its name, and the fields that are not zero.
func (e Entry[P]) Text() string { return string(kv.AppendSet([]byte(e.Name), e.Fields)) }

// Parse reads a policy that is one of the entries, or reports that it is none of them. Its fields are not checked.
func Parse[P any](pkg, text string, entries []Entry[P]) (policy P, ok bool, err error) {
	name, rest, some := strings.Cut(text, ",")
	name = strings.TrimSpace(name)
	for _, e := range entries {
		if e.Name != name {
			continue
		}
		if some {
			if err := kv.ParseSet("policy "+name, e.Fields, rest); err != nil {
				return policy, true, fmt.Errorf("%s: %w", pkg, err)
			}
		}
		return e.Built(), true, nil
	}
	return policy, false, nil
}

// Unknown is the error for a policy that is none of those.
func Unknown(pkg, text string, names []string) error {
	name, _, _ := strings.Cut(text, ",")
	return fmt.Errorf("%s: policy is %s, want one of %s", pkg, kv.Quote(strings.TrimSpace(name)), strings.Join(names, ", "))
}
