package merge

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot"
)

const day = 24 * time.Hour

var (
	choices = Choices{Origin: "me", Skew: time.Minute, Keep: day}
	form    = Form[fact]{
		Place: "test", Kind: 't',
		Fact: func(c *snapshot.Codec, v *fact) { c.Number64(&v.n, 0, 1000) },
		Name: func(v *fact) *string { return &v.name },
	}
)

// fact is a number that was seen on a machine.
type fact struct {
	name string
	n    int64
}

// deltaOf returns a delta with many origins, or with facts that have the given names.
func deltaOf(origins int, begun time.Duration, names []string, facts ...fact) []byte {
	sections := make([]section[fact], origins)
	for i := range sections {
		o := origin{name: fmt.Sprint("origin-", i), begun: micros(begun), until: micros(begun)}
		sections[i] = section[fact]{origin: o}
		for _, f := range facts {
			sections[i].seen = append(sections[i].seen, Observation[fact]{At: begun, Fact: f})
		}
	}
	delta, _ := snapshot.Append(nil, 't', func(c *snapshot.Codec) { form.delta(c, &names, &sections) })
	return delta
}

// The largest number of origins is accepted. After these origins are removed, other origins are accepted.
func TestOriginsAreNotUsedUp(t *testing.T) {
	var k set[fact]
	now := 1000 * day
	require.NoError(t, k.merge(form, choices, now, deltaOf(math.MaxUint16, now, nil)))
	require.ErrorContains(t, k.merge(form, choices, now, deltaOf(1, now+1e6, nil)), "want at most 65535 origins in all")
	require.NoError(t, k.merge(form, choices, now, deltaOf(100, now, nil)), "known origins are accepted")
	now += 3 * day
	k.newest(form, choices, now, newest)
	require.NoError(t, k.merge(form, choices, now, deltaOf(100, now, nil)))
	assert.Len(t, k.origins.list, 101)
}

func TestInvalidNamesAreRefused(t *testing.T) {
	var k set[fact]
	err := k.merge(form, choices, day, deltaOf(1, day, []string{""}, fact{"", 1}))
	require.ErrorContains(t, err, "names that are empty")
}
