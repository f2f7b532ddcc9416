package assign

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Model describes a downstream task with clones that read upstream outputs. A host fills it with samples of ended jobs.
type Model struct {
	// Lags are samples of a wait, each 0 or more. A lag begins when a downstream clone is ready to read and the first
	// output of an upstream task is finished. The lag ends when the clone has an output that no other clone of its
	// task has taken. The lag is 0 if such an output is there at once, and [Forever] if none ever comes. Leave out
	// the clone that takes the first output: this clone never waits, and its zeros would hide the waits of the other
	// clones. The share of lags above ω is p_c(ω).
	Lags []time.Duration
	// Cut are lags that were cut short: after this time the clone had to share, or the clone or its upstream clones
	// were killed. A cut lag shows only that the whole lag would be longer. p_c is then the product-limit estimate
	// [Kaplan and Meier 1958], in which a cut lag counts until its cut. p_c is constant beyond the longest of all
	// Lags. Without cut lags, p_c is the share of Lags above ω.
	Cut []time.Duration
	// InverseLag is κ of the paper's formula, p_c(ω) = min(1, κ/ω), in which p_c is inversely proportional to ω. 0
	// means to use Lags; a positive value ignores Lags. κ is a single number for lags that are mostly short and
	// sometimes endless. In a test, lags were 1 s on average, and one lag in ten was 60 s. Tasks with windows from κ
	// took up to 1 % longer than tasks with windows from Lags.
	InverseLag time.Duration
	// Compute are samples of the computation time of a downstream clone, without its reads. Take the samples from
	// tasks that ran alone, or from tasks in which all clones ran to their end. If clones race, the winners are the
	// faster clones, and the durations of the killed clones are unknown. Without samples, ChooseWindow minimises the
	// mean read time of the clones; see [Outcome.TaskTime].
	Compute []time.Duration
	// Size is r, the bytes that a clone reads from one upstream output, 0 or more.
	Size float64
	// Bandwidth is B, the bandwidth of the only reader of an output, in bytes per second, above 0.
	Bandwidth float64
	// Contention is α, in (0, 1]: the share of B that a clone has while another clone reads the same output.
	Contention float64
	// Clones is c, the number of clones of a task, 2 to 1000. 0 means 2.
	Clones int
	// Inputs is the number of upstream outputs that a clone reads, one after the other. Inputs is 1 between
	// one-to-one phases. Between all-to-all phases Inputs is the number of upstream tasks. [Pattern.Inputs] computes
	// this number. 0 means 1.
	Inputs int
	// Pairing says which clone gets the first output of each input.
	Pairing Pairing
}

// Pairing says which clone gets the first output of each input. The names and values are stable.
type Pairing uint8

const (
	// Spread gives the first output to the clone that asks first, so each clone is first for its share of the inputs.
	// Spread is the zero value. With a single input, one clone is always first.
	Spread Pairing = iota
	// Coordinated gives the first outputs of all inputs to the same clone, as [Input.Ahead] does.
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

// longest, in seconds, limits the duration of all reads of a clone. So no sum of three such durations overflows a
// time.Duration, and no window equals Forever.
const longest = 1e9

// validate returns an error for the first field that is out of range.
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

// validateReads checks all fields except the samples.
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

// maxClones is the largest number of clones of a task.
const maxClones = 1000
