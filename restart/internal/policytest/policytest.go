// Package policytest holds helpers that the tests of several packages share: the policies under test, and facts
// made of a fuzzer's bytes. Use it in a test that must hold for every policy:
//
//	for name, policy := range policytest.Policies() {
//		t.Run(name, func(t *testing.T) { ... policy.Decide(task, phase) ... })
//	}
//
// Use a [Reader] in a fuzz test to turn the input into facts with extreme values.
package policytest

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Policies returns the policies under test by their names: every policy that has a name, and variants of some.
// The variants have low thresholds, so that short random runs cross them.
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

// Reader makes facts of a fuzzer's bytes. After the last byte all facts are zero.
type Reader struct{ Data []byte }

// Byte reads one byte; 0 after the end.
func (r *Reader) Byte() byte {
	if len(r.Data) == 0 {
		return 0
	}
	b := r.Data[0]
	r.Data = r.Data[1:]
	return b
}

// Uint64 reads eight bytes, or fewer at the end.
func (r *Reader) Uint64() uint64 {
	var b [8]byte
	r.Data = r.Data[copy(b[:], r.Data):]
	return binary.LittleEndian.Uint64(b[:])
}

// Float reads a number: an extreme value, any bit pattern, or a plain number from 0 to 16.
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

// Duration reads a duration: an extreme value, any bit pattern, or 0 to 255 seconds.
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

// Int reads an integer: an extreme value, any bit pattern, or 0 to 31.
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

// Certain is a distribution of one certain value, in seconds.
type Certain float64

// Mean returns the certain value. Quantile returns it for every share.
func (c Certain) Mean() float64            { return float64(c) }
func (c Certain) Quantile(float64) float64 { return float64(c) }

// CDF returns the probability of a value of at most x: 0 or 1.
func (c Certain) CDF(x float64) float64 {
	if x >= float64(c) {
		return 1
	}
	return 0
}

// Below returns the probability of a value below x: 0 or 1.
func (c Certain) Below(x float64) float64 {
	if x > float64(c) {
		return 1
	}
	return 0
}
