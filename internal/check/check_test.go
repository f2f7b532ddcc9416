package check

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler"
)

func TestAnErrorHasFourPartsAndOneText(t *testing.T) {
	for text, c := range map[string]struct {
		err  error
		want straggler.FieldError
	}{
		"restart: Mantri.IdleGain is +Inf, want a number": {
			Bad("restart: Mantri", "IdleGain", math.Inf(1), "a number"),
			straggler.FieldError{Package: "restart", Field: "Mantri.IdleGain", Value: math.Inf(1), Want: "a number"},
		},
		"skew: rows is 0, want at least 1": {
			Least("skew", "rows", 0, 1),
			straggler.FieldError{Package: "skew", Field: "rows", Value: 0, Want: "at least 1"},
		},
		"fairshare/gate: Config.Users[3].Share is 1m0s, want 0 to 2": {
			Badf("fairshare/gate: Config", At("Users", 3, "Share"), time.Minute, "%d to %d", 0, 2),
			straggler.FieldError{
				Package: "fairshare/gate", Field: "Config.Users[3].Share", Value: time.Minute, Want: "0 to 2",
			},
		},
		`clone: Charge is "jobs\n", want a name`: {
			Bad("clone", "Charge", "jobs\n", "a name"),
			straggler.FieldError{Package: "clone", Field: "Charge", Value: "jobs\n", Want: "a name"},
		},
	} {
		var found *straggler.FieldError
		require.True(t, errors.As(fmt.Errorf("host: %w", c.err), &found))
		assert.Equal(t, c.want, *found)
		assert.EqualError(t, c.err, text)
	}
	assert.Equal(t, "Sizes[2]", At("Sizes", 2, ""))
	assert.Equal(t, "internal/check: kind", PlaceOf[kind]())
}

type kind uint8

func TestEachCheckAcceptsItsRangeOnly(t *testing.T) {
	const p, f = "x: Y", "F"
	nan, inf := math.NaN(), math.Inf(1)
	for i, err := range []error{
		Share(p, f, 0, false), Share(p, f, 1, false), Share(p, f, Off, true), Factor(p, f, 0), Factor(p, f, 1e300),
		Age(p, f, 0), Age(p, f, Off), Age(p, f, math.MaxInt64), Count(p, f, 0, false), Count(p, f, int64(Off), true),
		Within(p, f, 0, 2, 3), Within(p, f, 2, 2, 3), Within(p, f, 3., 2, 3), Probability(p, f, 0), Probability(p, f, .999),
		Least(p, f, time.Second, time.Second), Named(p, f, kind(1), []string{"a", "b"}),
	} {
		assert.NoError(t, err, "%d", i)
	}
	for i, err := range []error{
		Share(p, f, nan, true), Share(p, f, 1.1, true), Share(p, f, Off, false), Share(p, f, -.1, true), Factor(p, f, nan),
		Factor(p, f, inf), Factor(p, f, Off), Age(p, f, -2), Count(p, f, Off, false), Count(p, f, -2, true),
		Least(p, f, 0, time.Duration(1)), Named(p, f, kind(2), []string{"a", "b"}),
	} {
		assert.Error(t, err, "%d", i)
	}
	assert.EqualError(t, cmp.Or(Count(p, f, 3, true), Named(p, f, kind(2), []string{"a", "b"}), Age(p, f, -2)),
		"x: Y.F is 2, want one of: a, b", "the first fault is told")
	assert.NoError(t, cmp.Or(Count(p, f, 3, true), Age(p, f, 2)))
	assert.Equal(t, 7, Or(0, 7))
	assert.Equal(t, .5, Or(.5, 7))
}

func TestNilIsAPointerOrFunctionInAnInterface(t *testing.T) {
	var f func()
	assert.True(t, Nil((*int)(nil)))
	assert.True(t, Nil(f))
	assert.False(t, Nil(nil))
	assert.False(t, Nil(0))
}
