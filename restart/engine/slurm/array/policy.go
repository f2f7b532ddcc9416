package array

import (
	"fmt"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// ParsePolicy reads the text of a policy as [rules.Parse] does, such as "late,min-age=5s,speculative-cap=0.2". The text
// "none" means restart.Never{}, which takes no action. An error names the text.
func ParsePolicy(text string) (restart.Policy, error) {
	if text == "none" {
		return restart.Never{}, nil
	}
	policy, err := rules.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("policy %q is neither \"none\" nor a policy of package rules: %w", text, err)
	}
	return policy, nil
}
