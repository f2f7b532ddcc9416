package assign

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Model describes a downstream task whose clones read upstream outputs, from samples of jobs that ended.
type Model struct {
	// Lags are samples of how long a downstream clone, ready to read, had to wait from the first finished copy of an
	// upstream task to one that no other clone of its task had taken: 0 if there was one at once, [Forever] if it never
	// came. Leave the clone out that takes the first copy: it never waits, and its zeros would hide that the others do.
	// The share of lags above ω is p_c(ω).
	Lags []time.Duration
	// Cut are lags that were cut short: a clone waited that long and then had to share, or killed, or its upstream
	// copies were. They show that its lag was longer, and no more: p_c is the product-limit estimate [Kaplan and Meier
	// 1958], in which a cut lag counts until it was cut; beyond the longest of the Lags it stays what it is there.
	// Without cut lags p_c is the share of Lags above ω.
	Cut []time.Duration
	// InverseLag, if it is above 0, is κ of the paper's form, in which p_c is inversely proportional to ω: p_c(ω) =
	// min(1, κ/ω). Lags are not read then. It is one figure for lags that are mostly short and now and then endless;
	// with lags of 1 s in the mean, one in ten of 60 s, its windows made tasks up to 1 % longer than those from the
	// lags.
	InverseLag time.Duration
	// Compute are samples of how long a clone of the downstream task computed, beside its reads. Take them from tasks
	// that ran alone, or whose clones all ran to their ends: of clones that race, the winners are the faster ones, and
	// what the killed ones would have taken is not known. Without samples, the mean of the clones' read times is
	// minimised; see [Outcome.TaskTime].
	Compute []time.Duration
	// Size is r, the bytes that a clone reads of one upstream output.
	Size float64
	// Bandwidth is B, in bytes per second: what a clone gets that reads an output alone.
	Bandwidth float64
	// Contention is α, in (0, 1]: the share of B that a clone gets while another reads the same output.
	Contention float64
	// Clones is c, the number of clones of a task, 2 or more. 0 means 2.
	Clones int
	// Inputs is how many upstream outputs a clone reads, one after the other: 1 where the phases are one-to-one, as
	// many as the phase has tasks where they are all-to-all; [Pattern.Inputs] knows. 0 means 1.
	Inputs int
	// Pairing says who is first to read.
	Pairing Pairing
}

// Pairing says which clone has the first copy of each input. The names and values are stable.
type Pairing uint8

const (
	// Spread lets whoever asks first have it, so that each clone is first for its share of the inputs. It is the zero
	// value. Of one input, one clone is the first.
	Spread Pairing = iota
	// Coordinated has one clone be the first for all inputs, as with [Input.Ahead].
	Coordinated
)

var pairingNames = [...]string{"spread", "coordinated"}

// String returns the pairing's name.
func (p Pairing) String() string { return enum.Name(pairingNames[:], p) }

// MarshalText returns the pairing's name.
func (p Pairing) MarshalText() ([]byte, error) { return enum.Text(pairingNames[:], p) }

// UnmarshalText sets the pairing by its name.
func (p *Pairing) UnmarshalText(text []byte) error { return enum.Parse(pairingNames[:], text, p) }

func (m *Model) clones() int { return max(m.Clones, 2) }
func (m *Model) inputs() int { return max(m.Inputs, 1) }

// longest bounds the seconds of all reads of a clone, so that no sum of three is beyond a time.Duration, and no window
// is Forever.
const longest = 1e9

func (m *Model) validate() error {
	if m.InverseLag < 0 {
		return check.Bad("delay/assign", "Model.InverseLag", m.InverseLag, "a duration, 0 or more")
	}
	if len(m.Lags)+len(m.Cut) == 0 && m.InverseLag == 0 {
		return check.Bad("delay/assign", "the number of Model.Lags", 0, "1 or more, or InverseLag")
	}
	for name, samples := range [...][]time.Duration{m.Lags, m.Cut, m.Compute} {
		for i, d := range samples {
			if d < 0 {
				name := [...]string{"Model.Lags", "Model.Cut", "Model.Compute"}[name]
				return check.Bad("delay/assign", check.At(name, i, ""), d, "a duration, 0 or more")
			}
		}
	}
	return m.validateReads()
}

// validateReads checks all but the samples.
func (m *Model) validateReads() error {
	all := m.Size / m.Bandwidth / m.Contention * float64(m.inputs())
	switch {
	case !(m.Size >= 0) || !num.Finite(m.Size):
		return check.Bad("delay/assign", "Model.Size", m.Size, "a finite number of bytes, 0 or more")
	case !(m.Bandwidth > 0) || !num.Finite(m.Bandwidth):
		return check.Bad("delay/assign", "Model.Bandwidth", m.Bandwidth, "a finite rate above 0")
	case !(m.Contention > 0 && m.Contention <= 1):
		return check.Bad("delay/assign", "Model.Contention", m.Contention, "a share in (0, 1]")
	case m.Clones < 0 || m.Clones == 1 || m.Clones > maxClones:
		return check.Bad("delay/assign", "Model.Clones", m.Clones, fmt.Sprintf("2 to %d, or 0 for 2", maxClones))
	case m.Inputs < 0:
		return check.Bad("delay/assign", "Model.Inputs", m.Inputs, "1 or more, or 0 for 1")
	case !(all < longest):
		return check.Bad("delay/assign", "Model.Inputs*Size/Bandwidth/Contention", all, "less than 1e9 seconds")
	case int(m.Pairing) >= len(pairingNames):
		return check.Bad("delay/assign", "Model.Pairing", m.Pairing, "Spread or Coordinated")
	}
	return nil
}

const maxClones = 1000
