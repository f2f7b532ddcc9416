package merge

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/merge/mergetest"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// process is the smallest type that shares what it learns: a clock and a list.
type process struct {
	choices Choices
	clock   clock.Clock
	list    set[int64]
}

const (
	keep   = 16 * time.Minute
	newest = 12
)

var numbers = Form[int64]{Place: "test", Kind: 'l', Fact: func(c *snapshot.Codec, v *int64) { c.Number64(v, 0, 1000) }}

func processOf(name string) *process {
	return &process{choices: Choices{Origin: name, Skew: time.Minute, Keep: keep}}
}

func (p *process) at(now time.Time) time.Duration { return p.choices.At(&p.clock, now) }

func (p *process) AppendVersion(dst []byte) []byte {
	return numbers.AppendVersion(dst, &p.list.origins)
}

func (p *process) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	delta, err := p.list.delta(numbers, p.choices, p.clock.Since, since, origins...)
	return append(dst, delta...), err
}

func (p *process) Merge(now time.Time, delta []byte) error {
	return p.list.merge(numbers, p.choices, p.at(now), delta)
}

func (p *process) state(c *snapshot.Codec) {
	c.Clock(&p.clock)
	p.list.state(numbers, c, p.choices.Latest(p.clock))
}

func (p *process) MarshalBinary() ([]byte, error) { return snapshot.Append(nil, 1, p.state) }

func (p *process) UnmarshalBinary(data []byte) error {
	fresh := process{choices: p.choices}
	return snapshot.RestoreTo(fresh, data, 1, p, (*process).state)
}

// answer returns the list of a process as text.
func (p *process) answer(now time.Time) (text string) {
	for _, v := range p.list.newest(numbers, p.choices, p.at(now), newest) {
		text += fmt.Sprintln(v.At, v.Fact, p.list.origins.list[v.Origin].name)
	}
	return text
}

func TestMergesObeyTheLaws(t *testing.T) {
	mergetest.Laws(t, mergetest.Fleet[*process]{
		New: func(i int) *process { return processOf(mergetest.Name(i)) },
		See: func(p *process, _ int, now time.Time, random *rand.Rand) {
			p.list.add(p.choices, p.at(now), random.Int64N(3))
		},
		Answer: (*process).answer,
	})
}

func TestDamagedDeltasAreRefused(t *testing.T) {
	now := time.Unix(1.7e9, 0)
	a, b := processOf("a"), processOf("b")
	for i := range int64(20) {
		a.list.add(a.choices, a.at(now.Add(time.Duration(i)*time.Second)), i%3)
	}
	delta, err := a.AppendDelta(nil, nil)
	require.NoError(t, err)
	mergetest.Refuses(t, b, now.Add(time.Minute), delta)
}
