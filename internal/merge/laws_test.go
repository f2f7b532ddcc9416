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

// process is the smallest type that shares what it learns: a clock, and a list or counts.
type process struct {
	choices Choices
	clock   clock.Clock
	counts  Fleet
	list    List[int64]
	lists   bool // the process shares the list, and not the counts
}

const (
	keep     = 16 * time.Minute // so a slot is a minute
	newest   = 12
	machines = 4
)

var numbers = Form[int64]{Place: "test", Kind: 'l', Fact: func(c *snapshot.Codec, v *int64) { c.Number64(v, 0, 1000) }}

func processOf(name string, lists bool) *process {
	p := &process{choices: Choices{Origin: name, Skew: time.Minute, Keep: keep}, lists: lists}
	for machine := range machines {
		p.counts.SetName(machine, fmt.Sprint("node-", machine))
	}
	return p
}

func (p *process) at(now time.Time) time.Duration { return p.choices.At(&p.clock, now) }

func (p *process) AppendVersion(dst []byte) []byte {
	if p.lists {
		return p.list.AppendVersion(numbers, dst)
	}
	return p.counts.AppendVersion(form, dst)
}

func (p *process) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	if p.lists {
		return p.list.AppendDelta(numbers, p.choices, p.clock.Since, dst, since, origins)
	}
	return p.counts.AppendDelta(form, p.choices, p.clock.Since, dst, since, origins)
}

func (p *process) Merge(now time.Time, delta []byte) error {
	if p.lists {
		return p.list.Merge(numbers, p.choices, p.at(now), delta)
	}
	return p.counts.Merge(form, p.choices, p.at(now), delta)
}

func (p *process) state(c *snapshot.Codec) {
	c.Clock(&p.clock)
	p.counts.State(form, c, p.choices)
	p.list.State(numbers, c, p.choices.Latest(p.clock))
}

func (p *process) MarshalBinary() ([]byte, error) { return snapshot.Append(nil, 1, p.state) }

func (p *process) UnmarshalBinary(data []byte) error {
	fresh := process{choices: p.choices, lists: p.lists}
	return snapshot.RestoreTo(fresh, data, 1, p, (*process).state)
}

// answer returns all answers of a process as text.
func (p *process) answer(now time.Time) (text string) {
	at := p.at(now)
	if p.lists {
		for _, v := range p.list.Newest(numbers, p.choices, at, newest) {
			text += fmt.Sprintln(v.At, v.Fact, p.list.origins.list[v.Origin].name)
		}
		return text
	}
	p.counts.Forget(p.choices, at)
	for machine := range machines {
		name := p.counts.Name(machine)
		for ago := range int64(Slots) {
			text += fmt.Sprint(p.counts.Of(p.choices, at, name, ago), " ")
		}
		text += fmt.Sprintln(p.counts.Kept(p.choices, at, name))
	}
	return text + fmt.Sprintln(p.counts.Kept(p.choices, at, ""))
}

func TestMergesObeyTheLaws(t *testing.T) {
	for _, lists := range []bool{true, false} {
		t.Run(fmt.Sprint("lists: ", lists), func(t *testing.T) {
			mergetest.Laws(t, mergetest.Fleet[*process]{
				New: func(i int) *process { return processOf(mergetest.Name(i), lists) },
				See: func(p *process, _ int, now time.Time, random *rand.Rand) {
					if p.lists {
						p.list.Add(p.choices, p.at(now), random.Int64N(3))
						return
					}
					n := Count{Of: random.Int64N(50)}
					n.Hits = random.Int64N(n.Of + 1)
					p.counts.Add(p.choices, p.at(now), random.IntN(machines), n)
				},
				Answer: (*process).answer,
			})
		})
	}
}

func TestDamagedDeltasAreRefused(t *testing.T) {
	now := time.Unix(1.7e9, 0)
	for _, lists := range []bool{true, false} {
		a, b := processOf("a", lists), processOf("b", lists)
		for i := range int64(20) {
			at := a.at(now.Add(time.Duration(i) * time.Second))
			a.list.Add(a.choices, at, i%3)
			a.counts.Add(a.choices, at, int(i%machines), Count{i, i / 2})
		}
		delta, err := a.AppendDelta(nil, nil)
		require.NoError(t, err)
		mergetest.Refuses(t, b, now.Add(time.Minute), delta)
	}
}
