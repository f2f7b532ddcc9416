package clone

import (
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConstructorsRefuseValuesOutOfRange(t *testing.T) {
	budget := func(c Config) error { _, err := NewBudget(c); return err }
	estimator := func(c EstimatorConfig) error { _, err := NewEstimator(c); return err }
	blacklist := func(n int, c BlacklistConfig) error { _, err := NewBlacklist(n, c); return err }
	for _, b := range []struct {
		err  error
		want string
	}{
		{budget(Config{AcceptableRisk: 1}), "clone: Config.AcceptableRisk is 1, want a probability in (0, 1), or 0 for the default"},
		{budget(Config{AcceptableRisk: Off}), "clone: Config.AcceptableRisk is -1, want a probability in (0, 1), or 0 for the default"},
		{budget(Config{BudgetShare: math.NaN()}), "clone: Config.BudgetShare is NaN, want a share in (0, 1], 0 for the default, or Off"},
		{budget(Config{BudgetShare: 5}), "clone: Config.BudgetShare is 5, want a share in (0, 1], 0 for the default, or Off"},
		{budget(Config{Ceiling: -.5}), "clone: Config.Ceiling is -0.5, want a share in (0, 1], 0 for the default, or Off"},
		{budget(Config{Charge: 2}), "clone: Config.Charge is Charge(2), want one of: all-clones, extra-clones"},
		{budget(Config{Shortage: 3}), "clone: Config.Shortage is Shortage(3), want one of: deny, fewer-clones, first-tasks"},
		{estimator(EstimatorConfig{Period: -1}), "clone: EstimatorConfig.Period is -1ns, want a positive duration, or 0 for the default"},
		{estimator(EstimatorConfig{Slow: 1.5}), "clone: EstimatorConfig.Slow is 1.5, want a share in (0, 1], or 0 for the default"},
		{estimator(EstimatorConfig{MinTasks: -1}), "clone: EstimatorConfig.MinTasks is -1, want a positive number, or 0 for the default"},
		{blacklist(-1, BlacklistConfig{}), "clone: machines is -1, want at least 0"},
		{blacklist(1, BlacklistConfig{Window: -1}), "clone: BlacklistConfig.Window is -1ns, want a positive duration, or 0 for the default"},
		{blacklist(1, BlacklistConfig{Recent: 2}), "clone: BlacklistConfig.Recent is 2, want a share in (0, 1], or 0 for the default"},
		{blacklist(1, BlacklistConfig{Threshold: 1}), "clone: BlacklistConfig.Threshold is 1, want a probability in (0, 1), or 0 for the default"},
		{blacklist(1, BlacklistConfig{MaxShare: math.Inf(1)}), "clone: BlacklistConfig.MaxShare is +Inf, want a share in (0, 1], or 0 for the default"},
		{blacklist(1, BlacklistConfig{MinTasks: -2}), "clone: BlacklistConfig.MinTasks is -2, want a positive number, or 0 for the default"},
	} {
		assert.EqualError(t, b.err, b.want)
	}
}

func TestConfigReturnsTheDefaults(t *testing.T) {
	b, err := NewBudget(Config{Charge: ExtraClones})
	require.NoError(t, err)
	assert.Equal(t, Config{AcceptableRisk: .05, BudgetShare: .05, Ceiling: .8, Charge: ExtraClones}, b.Config())
	e, err := NewEstimator(EstimatorConfig{})
	require.NoError(t, err)
	assert.Equal(t, EstimatorConfig{Period: time.Hour, Slow: .5, MinTasks: 100}, e.Config())
	l, err := NewBlacklist(0, BlacklistConfig{Threshold: .2})
	require.NoError(t, err)
	assert.Equal(t, BlacklistConfig{Window: 5 * time.Minute, Recent: .5, Threshold: .2, MaxShare: .1, MinTasks: 3}, l.Config())
}

func TestValuesPrintTheirNames(t *testing.T) {
	assert.Equal(t, "extra-clones", ExtraClones.String())
	assert.Equal(t, "first-tasks", FirstTasks.String())
	assert.Equal(t, "Action(7)", Action(7).String())
	assert.Equal(t, "no-tasks", NoTasks.String())
	assert.Equal(t, "Reason(77)", Reason(77).String())
	var d Decision
	assert.Equal(t, "single no-reason", d.String())
	assert.Equal(t, slog.KindGroup, d.LogValue().Kind())
}

func TestCountRefusesArgumentsOutOfRange(t *testing.T) {
	for _, b := range []struct {
		n      int
		p, eps float64
		want   string
	}{
		{0, .1, .05, "clone: n is 0, want 1 task or more"},
		{-3, .1, .05, "clone: n is -3, want 1 task or more"},
		{1, 1, .05, "clone: p is 1, want a probability in [0, 1)"},
		{1, -.1, .05, "clone: p is -0.1, want a probability in [0, 1)"},
		{1, math.NaN(), .05, "clone: p is NaN, want a probability in [0, 1)"},
		{1, .1, 0, "clone: eps is 0, want a risk above 0"},
		{1, .1, -1, "clone: eps is -1, want a risk above 0"},
		{1, .1, math.NaN(), "clone: eps is NaN, want a risk above 0"},
	} {
		_, err := Count(b.n, b.p, b.eps)
		assert.EqualError(t, err, b.want)
	}
}
