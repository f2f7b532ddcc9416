package rules

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
)

// Names returns the names of the policies that [Parse] can read, in a new slice.
func Names() []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].name
	}
	return names
}

// Text returns a policy in the form that [Parse] reads: its name, and the fields that are not zero. For a nil policy
// it returns the text of LeastCost{}. For a policy that is not in this package or package restart, it returns "".
// Text allocates.
func Text(policy restart.Policy) string {
	i, v := find(policy)
	if i < 0 {
		return ""
	}
	return string(wire.AppendSet([]byte(table[i].name), choices(v)))
}

// Parse reads a policy from a text. The text has the name of the policy and then, after commas, the fields that
// differ from the published defaults. Field names are in small letters with dashes, durations are written like 5s,
// and [restart.Off] is written as off. Spaces around a comma or an equals sign are ignored:
//
//	mantri
//	mantri,idle-gain=2,max-restarts=off
//	late,min-age=5s,speculative-cap=0.2
//
// Parse can read the policies of this package and of package restart. An error states the field, its value and the
// expected form or range. Parse allocates.
func Parse(text string) (restart.Policy, error) {
	name, rest, some := strings.Cut(text, ",")
	name = strings.TrimSpace(name)
	for i := range table {
		if table[i].name != name {
			continue
		}
		_, v := find(table[i].zero)
		if some {
			if err := wire.ParseSet("policy "+name, choices(v), rest); err != nil {
				if f := (*wire.Fault)(nil); errors.As(err, &f) {
					return nil, check.Bad("restart/rules", "policy "+name+": "+f.Key, f.Text, f.Want)
				}
				return nil, fmt.Errorf("restart/rules: %w", err)
			}
		}
		policy, _ := v.Interface().(restart.Policy)
		return policy, restart.Validate(policy)
	}
	return nil, check.Bad("restart/rules", "policy", name, "one of "+strings.Join(Names(), ", "))
}

// choices returns the fields of a policy as keys and values.
func choices(v reflect.Value) []wire.Field { return wire.Choices(v.Addr().Interface()) }
