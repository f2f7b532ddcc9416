package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

func TestChoose(t *testing.T) {
	chosen, err := Choose("mantri, idle-gain=2,max-restarts=off, late-early,speculative-cap=0.2,dryad")
	require.NoError(t, err)
	require.Len(t, chosen, 3)
	assert.Equal(t, restart.Mantri{IdleGain: 2, MaxRestarts: restart.Off}, chosen[0].Policy)
	assert.True(t, chosen[0].LargestFirst, "what belongs to the policy stays")
	assert.Equal(t, "mantri,idle-gain=2,max-restarts=off", chosen[0].Name)
	assert.Equal(t, rules.LATE{Early: true, SpeculativeCap: 0.2}, chosen[1].Policy)
	assert.Equal(t, "dryad", chosen[2].Name)
	all, err := Choose("all")
	require.NoError(t, err)
	assert.Equal(t, len(Entries()), len(all))
	for text, want := range map[string]string{
		"":                       `unknown policy ""`,
		"late,all":               "stands alone",
		"idle-gain=2":            "unknown policy",
		"mantri,idle-gain=x":     "idle-gain",
		"mantri,magic=1":         "magic",
		"dryad,percentile=7":     "Percentile is 7",
		"dolly,budget=1":         "dolly has no fields",
		"largest-first,min-age=": "largest-first has no fields",
	} {
		_, err := Choose(text)
		assert.ErrorContains(t, err, want, text)
	}
}
