package assign

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Model describes a downstream task with several clones, which read the outputs of upstream tasks. The host fills it
// with samples from jobs that have ended. [ChooseWindow] computes from it how long a clone should wait for an output
// that no other clone of its task reads.
type Model struct {
	// Lags are samples of the time that a clone waits for an output that no other clone of its task reads, each 0 or
	// more. A lag begins when the clone is ready to read and the first output of an upstream task is finished. It
	// ends when such an output is finished. The lag is 0 if there is such an output immediately, and [Forever] if there
	// is never such an output. Leave out the clone that reads the first output: it never waits, and its lags of 0
	// would hide the waits of the other clones. For a window ω, the share of lags above ω is the probability p_c(ω)
	// that a clone must share.
	Lags []time.Duration
	// Cut are lags that ended early: after this time the clone had to share an output, or the clone or its
	// upstream clones were killed. A cut lag shows only that the whole lag would have been longer. With cut lags,
	// the probability that a clone must share is the product-limit estimate [Kaplan and Meier 1958], which uses
	// each cut lag up to its end. For windows longer than all Lags this probability is constant. Without cut lags,
	// it is the share of Lags that are longer than the window.
	Cut []time.Duration
	// InverseLag is the time κ in the paper's formula for the probability that a clone must share: p_c(ω) = min(1,
	// κ/ω), where ω is the window. If InverseLag is positive, Lags are ignored; if it is 0, Lags are used. If lags
	// are mostly short and sometimes endless, one number κ describes them only roughly. In a test, lags were 1 s on
	// average, and one lag in ten was 60 s. With windows from κ, tasks took up to 1 % longer than with windows from
	// Lags.
	InverseLag time.Duration
	// Compute are samples of the time that a downstream clone computes, without its reads. Use tasks that ran without
	// clones, or tasks whose clones all ran to their end. If the slower clones of a task were killed, only the times
	// of fast clones are known, and the samples would be too short. Without samples, ChooseWindow minimises the mean
	// read time of the clones; see [Outcome.TaskTime].
	Compute []time.Duration
	// Size is the number of bytes that a clone reads from one upstream output, 0 or more. The paper calls it r.
	Size float64
	// Bandwidth is the bandwidth of a clone that reads an output alone, in bytes per second, above 0. The paper
	// calls it B.
	Bandwidth float64
	// Contention is the share of Bandwidth that a clone has while another clone reads the same output, in (0, 1].
	// The paper calls it α.
	Contention float64
	// Clones is the number of clones of a task, from 2 to 1000. Zero means 2. The paper calls it c.
	Clones int
	// Inputs is the number of upstream outputs that a clone reads, one after another. It is 1 if each task reads
	// one task of the phase before. It is the number of upstream tasks if each task reads all upstream tasks.
	// [Pattern.Inputs] computes it. Zero means 1.
	Inputs int
	// Pairing says which clone of a task reads the first finished output of each input: always the same clone, or
	// a different clone for different inputs.
	Pairing Pairing
}

// Pairing says which clone of a task reads the first finished output of each input. For example, a task with two
// clones reads ten upstream tasks. The first output of each upstream task is finished early, and the second output
// late. If the same clone reads all ten early outputs, this clone ends early. If each clone reads five early outputs,
// both clones end late. The values and the names of the constants will not change.
type Pairing uint8

const (
	// Spread means that the clone that asks first reads the first output of an input. So each clone reads the
	// first output of some inputs. With a single input, the same clone always reads it. Spread is the zero value.
	Spread Pairing = iota
	// Coordinated means that the same clone reads the first outputs of all inputs. [Input.Ahead] does this.
	Coordinated
)

var pairingNames = [...]string{Spread: "spread", Coordinated: "coordinated"}

// String returns the name of the pairing.
func (p Pairing) String() string { return enum.Name(pairingNames[:], p) }

// MarshalText returns the name of the pairing. It returns an error if the value has no name.
func (p Pairing) MarshalText() ([]byte, error) { return enum.Text(pairingNames[:], p) }

// UnmarshalText sets the pairing to the constant whose name is text. It returns an error if no constant has this name.
func (p *Pairing) UnmarshalText(text []byte) error { return enum.Parse(pairingNames[:], text, p) }

func (m *Model) clones() int { return max(m.Clones, 2) }
func (m *Model) inputs() int { return max(m.Inputs, 1) }

// longest is a number of seconds: all reads of a clone together must take less. So no sum of three such durations
// overflows a time.Duration, and no window equals Forever.
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

// validateReads returns an error for the first field, other than the samples, that is out of range.
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
