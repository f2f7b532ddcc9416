// Package policytest contains helpers that the tests of several packages share: a list of policies, and a reader that
// makes facts from the bytes of a fuzzer. A test that must pass for every policy uses the list:
//
//	for name, policy := range policytest.Policies() {
//		t.Run(name, func(t *testing.T) { ... policy.Decide(task, phase) ... })
//	}
//
// A fuzz test uses a [Reader] to turn its input into facts with extreme values.
package policytest

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Policies returns the policies under test by their names: every policy that rules.Parse knows, and variants of some
// policies. The variants have low thresholds, so that even short random runs exceed them.
func Policies() map[string]restart.Policy {
	policies := map[string]restart.Policy{
		"mantri":      restart.Mantri{},
		"mantri-bold": restart.Mantri{IdleGain: 0.1, CopyThreshold: 0.01, CopyPause: 0.5, RaisedBar: 1, MaxRestarts: 2},
		"late":        rules.LATE{MinAge: restart.Off, SpeculativeCap: 0.5, SlowTask: 0.6},
		"late-early":  rules.LATE{MinAge: 5 * time.Second, SlowNode: 0.5, SpeculativeCap: 1, Early: true, UseRemaining: true},
		"hadoop":      rules.Hadoop{MinAge: 5 * time.Second, ScoreLag: 0.05},
		"mapreduce":   rules.MapReduce{NearEnd: 0.3},
		"dryad":       rules.Dryad{MinFinished: 1, Percentile: 0.3},
		"spark":       rules.Spark{Quantile: 0.25, Multiplier: 1.1, MinRuntime: time.Second},
		"flink":       rules.Flink{Ratio: 0.25, Multiplier: 1.1, LowerBound: time.Second},
		"sda":         rules.SDA{Multiplier: 1},
		"ese":         rules.ESE{Multiplier: 1},
	}
	for _, name := range rules.Names() {
		if policies[name] == nil {
			policies[name], _ = rules.Parse(name)
		}
	}
	return policies
}

// Reader makes facts from the bytes in Data. After the last byte has been read, all facts are zero.
type Reader struct{ Data []byte }

// Byte reads one byte. It returns 0 after the end of the data.
func (r *Reader) Byte() byte {
	if len(r.Data) == 0 {
		return 0
	}
	b := r.Data[0]
	r.Data = r.Data[1:]
	return b
}

// Uint64 reads eight bytes as a number. Bytes that are missing at the end of the data are 0.
func (r *Reader) Uint64() uint64 {
	var b [8]byte
	r.Data = r.Data[copy(b[:], r.Data):]
	return binary.LittleEndian.Uint64(b[:])
}

// Float reads a number. The first byte chooses its sort: an extreme value such as NaN, a random bit pattern, or a
// number from 0 to 16.
func (r *Reader) Float() float64 {
	switch k := r.Byte(); k % 8 {
	case 0:
		return math.Float64frombits(r.Uint64())
	case 1:
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -1, 0, math.SmallestNonzeroFloat64, 1e18}[k/8%8]
	default:
		return float64(r.Byte()) / 16
	}
}

// Duration reads a duration. The first byte chooses its sort: an extreme value, a random bit pattern, or 0 to 255
// seconds.
func (r *Reader) Duration() time.Duration {
	switch k := r.Byte(); k % 8 {
	case 0:
		return time.Duration(r.Uint64())
	case 1:
		return []time.Duration{math.MinInt64, math.MaxInt64, math.MinInt64 + 1, -1, 0, 1, time.Hour, estimate.Unknown}[k/8%8]
	default:
		return time.Duration(r.Byte()) * time.Second
	}
}

// Int reads an integer. The first byte chooses its sort: an extreme value, a random bit pattern, or 0 to 31.
func (r *Reader) Int() int {
	switch k := r.Byte(); k % 8 {
	case 0:
		return int(r.Uint64())
	case 1:
		return []int{math.MinInt, math.MaxInt, -1, math.MaxInt32, math.MinInt32, math.MaxInt32 - 1, 0, 1}[k/8%8]
	default:
		return int(k / 8)
	}
}

// Certain is a probability distribution with a single possible value, in seconds.
type Certain float64

// Mean and Quantile return the single value of the distribution. Quantile returns it for every probability.
func (c Certain) Mean() float64            { return float64(c) }
func (c Certain) Quantile(float64) float64 { return float64(c) }

// CDF returns the probability that the value is at most x: 0 or 1.
func (c Certain) CDF(x float64) float64 {
	if x >= float64(c) {
		return 1
	}
	return 0
}

// Below returns the probability that the value is less than x: 0 or 1.
func (c Certain) Below(x float64) float64 {
	if x > float64(c) {
		return 1
	}
	return 0
}
