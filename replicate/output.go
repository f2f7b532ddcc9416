package replicate

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// Output is a file or another result that a task left for other tasks to read. The host fills in the fields.
type Output struct {
	// Run is how long the task that made the output runs if all its inputs exist, at least 0. The paper calls it t.
	Run time.Duration
	// Loss is the probability, in [0, 1], that all copies of the output are lost when a task wants to read it. The
	// paper calls it r. [Losses] learns it for one machine, and [AllLost] combines several copies.
	Loss float64
	// Domain is the failure domain of the output. Outputs of one domain are lost together: if an output is lost,
	// every output of its domain with a larger Loss is lost, too. Outputs of different domains are lost
	// independently. If the only copy is on one machine, set Domain to the machine's number plus 1. If whole racks
	// fail, use the rack's number plus 1. 0 means that the output shares its domain with no other output, as in the
	// paper.
	Domain int
	// Inputs are the indices of the outputs that the task reads. An index that appears twice has the same effect as
	// a single index.
	Inputs []int
}

// Cost is the expected cost of computing an output again. The zero value is the cost of an unknown output. An
// example of its line:
//
//	redo=22s stall=2s expected=2.2s cluster-time=22s
//
// The task runs 20 s and is expected to wait 2 s for lost inputs, so Redo is 22 s. The output is lost with the
// probability 0.1, so Expected is 2.2 s.
type Cost struct {
	// Redo is the mean time from the moment at which the loss is noticed until the output exists again. The paper
	// calls it t_redo. Redo is the sum of Stall and the output's Run. Stall is the mean wait for lost inputs.
	Redo, Stall time.Duration
	// Expected is Loss times Redo: the mean time that the tasks which read the output wait because of a loss. The
	// paper calls it the cost to recompute.
	Expected time.Duration
	// ClusterTime is the mean of the total run time of a recomputation and of the recomputations of its lost
	// inputs, which run in parallel. If several lost inputs are recomputed from the same upstream output,
	// that output is included several times, so ClusterTime may be too high.
	ClusterTime time.Duration
}

func (k *Cost) wire(c *wire.Codec) {
	c.When(true).Duration("redo", &k.Redo)
	c.When(true).Duration("stall", &k.Stall)
	c.When(true).Duration("expected", &k.Expected)
	c.When(true).Duration("cluster-time", &k.ClusterTime)
}

// String returns the cost as one line. LogValue returns the same fields for
// log/slog. MarshalJSON returns the same fields as JSON.
func (k Cost) String() string               { return wire.Line(k.wire) }
func (k Cost) LogValue() slog.Value         { return wire.Log(k.wire) }
func (k Cost) MarshalJSON() ([]byte, error) { return wire.JSON(k.wire) }

// AllLost returns the probability that all copies of an output are lost. losses has one entry for each copy: the
// probability that the copy's machine loses it. Machines are treated as independent, so the result is the product
// of these probabilities [Mantri §5.3, Figure 11b]. If there is no copy, the result is 1.
func AllLost(losses ...float64) float64 {
	all := 1.0
	for _, loss := range losses {
		all *= loss
	}
	return all
}

// validate returns an error if a field of output k is out of range. It does not check the inputs.
func (o *Output) validate(k int) error {
	if o.Run < 0 {
		return check.Bad("replicate", check.At("outputs", k, "Run"), o.Run, "0 or more")
	}
	if !(o.Loss >= 0 && o.Loss <= 1) {
		return check.Bad("replicate", check.At("outputs", k, "Loss"), o.Loss, "a probability in [0, 1]")
	}
	return nil
}
