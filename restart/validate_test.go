package restart_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

func TestValidateNamesFieldAndRange(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, policy := range map[string]interface{ Validate() error }{
		"restart: Mantri.MaxRestarts is -2, want a positive number, 0 for the default, or Off":    restart.Mantri{MaxRestarts: -2},
		"restart: Mantri.CopyThreshold is 1, want a probability in (0, 1), 0":                     restart.Mantri{CopyThreshold: 1},
		"restart: Mantri.CopyThreshold is NaN":                                                    restart.Mantri{CopyThreshold: nan},
		"restart: Mantri.IdleGain is +Inf, want a positive finite number, or 0 for the default":   restart.Mantri{IdleGain: inf},
		"restart: Mantri.MaxCopies is -2":                                                         restart.Mantri{MaxCopies: -2},
		"restart: Mantri.Confidence is 1, want a probability in (0, 1), or 0 for the default":     restart.Mantri{Confidence: 1},
		"restart: Mantri.Confidence is -1":                                                        restart.Mantri{Confidence: -1},
		"restart: Mantri.FastestKept is -1":                                                       restart.Mantri{FastestKept: -1},
		"restart: Mantri.CopyPause is -1":                                                         restart.Mantri{CopyPause: -1},
		"restart: Mantri.RaisedBar is NaN":                                                        restart.Mantri{RaisedBar: nan},
		"restart/rules: LATE.SpeculativeCap is -1":                                                rules.LATE{SpeculativeCap: -1},
		"restart/rules: LATE.SlowNode is 1.5, want a share in (0, 1], 0 for the default, or Off":  rules.LATE{SlowNode: 1.5},
		"restart/rules: LATE.SlowTask is NaN":                                                     rules.LATE{SlowTask: nan},
		"restart/rules: LATE.MinAge is -2ns, want a positive duration, 0 for the default, or Off": rules.LATE{MinAge: -2},
		"restart/rules: Hadoop.ScoreLag is -1, want a share in (0, 1], or 0 for the default":      rules.Hadoop{ScoreLag: -1},
		"restart/rules: Hadoop.MinAge is -1m0s":                                                   rules.Hadoop{MinAge: -minute},
		"restart/rules: MapReduce.NearEnd is 2":                                                   rules.MapReduce{NearEnd: 2},
		"restart/rules: Dryad.MinFinished is -1":                                                  rules.Dryad{MinFinished: -1},
		"restart/rules: Dryad.Percentile is -1":                                                   rules.Dryad{Percentile: -1},
		"restart/rules: Spark.Quantile is 1.1":                                                    rules.Spark{Quantile: 1.1},
		"restart/rules: Spark.Multiplier is -1":                                                   rules.Spark{Multiplier: -1},
		"restart/rules: Spark.SlowRate is -2":                                                     rules.Spark{SlowRate: -2},
		"restart/rules: Spark.LongRun is NaN":                                                     rules.Spark{LongRun: nan},
		"restart/rules: Spark.Duration is -1s":                                                    rules.Spark{Duration: -time.Second},
		"restart/rules: Spark.ExecutorSlots is -1":                                                rules.Spark{ExecutorSlots: -1},
		"restart/rules: Spark.MinRuntime is -2ns":                                                 rules.Spark{MinRuntime: -2},
		"restart/rules: Flink.Ratio is -0.5":                                                      rules.Flink{Ratio: -0.5},
		"restart/rules: Flink.Multiplier is -1":                                                   rules.Flink{Multiplier: -1},
		"restart/rules: SDA.Multiplier is -1":                                                     rules.SDA{Multiplier: -1},
		"restart/rules: ESE.Multiplier is NaN":                                                    rules.ESE{Multiplier: nan},
		"restart/rules: Flink.LowerBound is -1s":                                                  rules.Flink{LowerBound: -time.Second},
	} {
		assert.ErrorContains(t, policy.Validate(), want)
		_, err := tracker.New(tracker.Config{Tasks: 1, Interval: 1e9, Policy: policy.(restart.Policy)})
		assert.ErrorContains(t, err, want, "a tracker validates its policy")
	}
	for _, policy := range policytest.Policies() {
		if p, ok := policy.(interface{ Validate() error }); ok {
			assert.NoError(t, p.Validate())
		}
	}
}

func TestLimitsAreValidated(t *testing.T) {
	assert.NoError(t, restart.Limits{}.Validate())
	assert.NoError(t, restart.Limits{Restarts: restart.Off, Copies: 9}.Validate())
	for want, l := range map[string]restart.Limits{
		"restart: Limits.Restarts is -2, want a positive number, 0 for the default, or Off": {Restarts: -2},
		"restart: Limits.Copies is -3, want a positive number":                              {Copies: -3},
	} {
		assert.ErrorContains(t, l.Validate(), want)
	}
	var bad *straggler.FieldError
	assert.ErrorAs(t, restart.Validate((*restart.Mantri)(nil)), &bad)
	assert.Equal(t, straggler.FieldError{
		Package: "restart", Field: "Policy", Value: "a nil *restart.Mantri", Want: "a policy, or nil itself for LeastCost",
	}, *bad)
}
