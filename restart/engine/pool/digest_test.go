package pool_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/pool"
	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/internal/digesttest"
	"github.com/straggler-go/straggler/restart/rules"
)

// The digest has the actions of a pool in 60 random worlds, in virtual time. Goroutines that wake at the same moment run
// in any order. So the worlds let no two attempts begin or end at the same moment, except for the first attempts of the
// goroutines, and these do not become slow.
func TestDigest(t *testing.T) {
	var cases []digesttest.Case
	for seed := range uint64(60) {
		cases = append(cases, digesttest.Case{Name: fmt.Sprintf("pool/%02d", seed), Play: func(t *testing.T, answers, _ *digesttest.Text) {
			synctest.Test(t, func(t *testing.T) { playWorld(t, seed, answers) })
		}})
	}
	digesttest.Run(t, "testdata/digest.txt", 4, cases)
}

// action is a call of the function of the option OnAction.
type action struct {
	at       time.Duration
	item     int
	decision restart.Decision
}

// playWorld draws a world, and runs Map or Each in it. The actions of one moment are sorted by their items.
func playWorld(t *testing.T, seed uint64, x *digesttest.Text) {
	rng := rand.New(rand.NewPCG(seed, 49))
	one := func(in int) bool { return rng.IntN(in) == 0 }
	goroutines := 1 + rng.IntN(12)
	items := goroutines + 20 + rng.IntN(120)
	slow, hang, fail, large := 6+rng.IntN(20), 0, 0, 0
	if one(2) {
		hang = 15 + rng.IntN(20)
	}
	if one(4) {
		fail = 60
	}
	if one(3) {
		large = 8 + rng.IntN(12)
	}
	policies := []restart.Policy{nil, nil, nil, nil, nil, restart.Mantri{}, rules.SDA{}, rules.ESE{}, rules.Dryad{}}
	var ledger pool.Ledger
	var bill shadow.Bill
	var actions []action
	began := time.Now()
	options := []pool.Option{
		pool.Goroutines(goroutines), pool.Policy(policies[rng.IntN(len(policies))]), pool.Account(&ledger),
		pool.OnAction(func(item int, d restart.Decision) { actions = append(actions, action{time.Since(began), item, d}) }),
	}
	if one(3) {
		options = append(options, pool.Restarts())
	} else {
		options = append(options, pool.Copies())
	}
	if one(4) {
		options = append(options, pool.Work(func(i int) float64 { return 1 + float64(i%4) }))
	}
	if one(4) {
		options = append(options, pool.Timeout(time.Second))
	}
	if one(4) {
		options = append(options, pool.Interval(3*time.Millisecond))
	}
	if one(6) {
		options = append(options, pool.Limits(restart.Limits{Copies: 1, FreeTrials: 8, LossShare: 0.2}))
	}
	if one(6) {
		options = append(options, pool.Shadow(&bill))
	}
	bad, tries := errors.New("bad"), make([]atomic.Int64, items)
	f := func(ctx context.Context, i int) (int, error) {
		a, _ := pool.AttemptOf(ctx)
		tries[i].Add(1)
		r := rand.New(rand.NewPCG(seed*1_000_003+uint64(i), uint64(a.Number)))
		takes := float64(typical) * (0.7 + float64(0.6*r.Float64()))
		if i < goroutines { // these begin together
			return i, sleep(ctx, typical*time.Duration(97+i)/97)
		}
		if large > 0 && i%large == 3 {
			takes *= 5
		}
		switch {
		case hang > 0 && r.IntN(hang) == 0:
			takes = float64(time.Minute)
		case r.IntN(slow) == 0:
			takes *= 8
		}
		if err := sleep(ctx, time.Duration(takes)); err != nil {
			time.Sleep(time.Duration(1 + r.IntN(1_000_000))) // the ends of two attempts must not meet
			return 0, err
		}
		if fail > 0 && a.Number > 0 && r.IntN(fail) < 10 {
			return 0, bad
		}
		return i, nil
	}
	results := make([]digesttest.Object, items)
	var err error
	if one(4) {
		for i, r := range pool.Each(t.Context(), upTo(items), f, options...) {
			results[i] = digesttest.Object{"at", time.Since(began), "result", r.Value, "failed", r.Err != nil}
		}
	} else {
		_, err = pool.Map(t.Context(), upTo(items), f, options...)
	}
	slices.SortStableFunc(actions, func(a, b action) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.item, b.item)) })
	for _, a := range actions {
		x.Line("at", a.at, "item", a.item, "decision", digesttest.Decision(a.decision))
	}
	x.Line("results", results, "error", fmt.Sprint(err))
	numbers := make([]int, items)
	for i := range numbers {
		numbers[i] = int(tries[i].Load())
	}
	x.Line("tries", numbers, "took", time.Since(began), "copies", ledger.Copies, "restarts", ledger.Restarts, "won", ledger.Won,
		"failed", ledger.Failed, "wasted", ledger.Wasted, "bill", bill.String())
}
