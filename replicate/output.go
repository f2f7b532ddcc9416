package replicate

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// Output is what a task left for others to read, as the host knows it.
type Output struct {
	// Run is t, how long the task takes when its inputs are at hand. It must not be negative.
	Run time.Duration
	// Loss is r, the probability in [0, 1] that no copy of the output is left when it is wanted. [Losses] learns it for
	// one machine; [AllLost] combines the copies.
	Loss float64
	// Domain is the failure domain: outputs of the same one are lost together, the least safe first, and those of
	// different ones independently. Outputs whose only copy is on one machine are of one domain: pass the machine's
	// number plus 1, or that of its rack if racks fail as a whole. 0, the paper's rule, is a domain of its own.
	Domain int
	// Inputs are the outputs that the task reads, by their indices. One that is named twice counts once.
	Inputs []int
}

// Cost is what it takes to have an output again, in expectation.
type Cost struct {
	// Redo is t_redo, the time from the output's loss being noticed until it is there again: Run, and the Stall before
	// it while lost inputs are recomputed.
	Redo, Stall time.Duration
	// Expected is Loss times Redo, what the next phase must expect to wait: the cost to recompute of the paper.
	Expected time.Duration
	// ClusterTime is what a recomputation takes, that of lost inputs included, which run in parallel. An
	// output that several lost inputs need counts for each of them, so this errs on the high side.
	ClusterTime time.Duration
}

func (k *Cost) wire(c *wire.Codec) {
	c.When(true).Duration("redo", &k.Redo)
	c.When(true).Duration("stall", &k.Stall)
	c.When(true).Duration("expected", &k.Expected)
	c.When(true).Duration("cluster-time", &k.ClusterTime)
}

// String returns the cost as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (k Cost) String() string                   { return wire.Line(k.wire) }
func (k Cost) LogValue() slog.Value             { return wire.Log(k.wire) }
func (k Cost) MarshalJSON() ([]byte, error)     { return wire.JSON(k.wire) }
func (k *Cost) UnmarshalJSON(data []byte) error { return wire.Read(data, k, (*Cost).wire) }
func (k *Cost) UnmarshalText(line []byte) error { return wire.Scan(line, k, (*Cost).wire) }

// AllLost returns the probability that all copies of an output are lost: the product of their machines' probabilities,
// taking machines to fail independently [Mantri §5.3, Figure 11b]. Without a copy it is 1.
func AllLost(losses ...float64) float64 {
	all := 1.0
	for _, loss := range losses {
		all *= loss
	}
	return all
}

// validate reports what cannot be in an output by itself.
func (o *Output) validate(k int) error {
	if o.Run < 0 {
		return check.Bad("replicate", check.At("outputs", k, "Run"), o.Run, "0 or more")
	}
	if !(o.Loss >= 0 && o.Loss <= 1) {
		return check.Bad("replicate", check.At("outputs", k, "Loss"), o.Loss, "a probability in [0, 1]")
	}
	return nil
}
