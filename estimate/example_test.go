package estimate_test

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
)

// How long will this attempt still run? The attempt has 1000 MB to read and reports how much it has read.
func ExampleLinear() {
	var wrapUp estimate.WrapUp
	wrapUp.Observe(95*time.Second, 100*time.Second) // a finished task wrote its output for 5 s

	model := estimate.Linear{Grace: 10 * time.Second, WrapUp: wrapUp.Mean()}
	var attempt estimate.Progress
	model.Report(&attempt, 10*time.Second, 100)
	model.Report(&attempt, 25*time.Second, 250)

	fmt.Println("at its report: ", model.Remaining(&attempt, 25*time.Second, 1000))
	fmt.Println("5 s later:     ", model.Remaining(&attempt, 30*time.Second, 1000))
	fmt.Println("25 s of silence:", model.Remaining(&attempt, 50*time.Second, 1000))
	// Output:
	// at its report:  1m20s
	// 5 s later:      1m15s
	// 25 s of silence: 2m35s
}

// With a Window the rate follows a change of speed, whatever the intervals between the reports.
func ExampleLinear_window() {
	life, recent := estimate.Linear{}, estimate.Linear{Window: 20 * time.Second}
	var a, b estimate.Progress
	for _, r := range []struct{ second, done int }{{10, 100}, {20, 200}, {40, 220}, {60, 240}} { // 10/s, then 1/s
		life.Report(&a, time.Duration(r.second)*time.Second, float64(r.done))
		recent.Report(&b, time.Duration(r.second)*time.Second, float64(r.done))
	}
	fmt.Printf("whole life: %.1f/s\n", a.Rate())
	fmt.Printf("recently:   %.1f/s\n", b.Rate())
	// Output:
	// whole life: 4.0/s
	// recently:   2.0/s
}

// How long would a new attempt take? The phase's own tasks give the answer.
func ExampleUnitTimes() {
	perMegabyte, err := estimate.NewUnitTimes(estimate.UnitTimesConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	perMegabyte.Finish(estimate.NoSample, estimate.Run{Age: 10 * time.Second, Work: 100}) // 100 MB in 10 s
	perMegabyte.Finish(estimate.NoSample, estimate.Run{Age: 30 * time.Second, Work: 150})
	perMegabyte.Running(estimate.NoSample, estimate.Run{Age: 15 * time.Second, Work: 100, Done: 50})

	fresh := estimate.Fresh{UnitTime: perMegabyte, Work: 200, Lag: 2 * time.Second}
	fmt.Println("expected:      ", fresh.Expected())
	fmt.Printf("in under 60 s:  %.2f\n", fresh.Below(60))
	fmt.Printf("95 %% take up to %.0f s\n", fresh.Quantile(.95))
	// Output:
	// expected:       42s
	// in under 60 s:  0.67
	// 95 % take up to 62 s
}

// Before enough tasks have run, the host's own expectation of the phase replaces the samples.
func ExampleUnitTimes_prior() {
	times, err := estimate.NewUnitTimes(estimate.UnitTimesConfig{Prior: distuv.Uniform{Min: 1, Max: 3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(times.Samples(), "samples:", times.Mean())
	for range 3 {
		times.Finish(estimate.NoSample, estimate.Run{Age: 40 * time.Second, Work: 10})
	}
	fmt.Println(times.Samples(), "samples:", times.Mean())
	// Output:
	// 0 samples: 2
	// 3 samples: 4
}

// Any distribution of gonum can describe the time of a unit of work. Here the median time is 60 s, and the machine
// is twice as slow as the average.
func ExampleFresh() {
	fresh := estimate.Fresh{
		UnitTime: distuv.LogNormal{Mu: math.Log(60), Sigma: 1},
		Work:     1,
		Location: 2,
	}
	fmt.Println("expected:", fresh.Expected().Round(time.Second))
	fmt.Printf("median:   %.0f s\n", fresh.Quantile(.5))
	fmt.Printf("in under a minute: %.2f\n", fresh.Below(60))
	// Output:
	// expected: 3m18s
	// median:   120 s
	// in under a minute: 0.24
}

// LATE's Figure 2, 20 s after the first of two equal tasks began: each task reads 5 %/s up to half of its input and
// 1 %/s from there.
func ExampleTimeLeft() {
	fmt.Println("T1:", estimate.TimeLeft(.6, 20*time.Second).Round(10*time.Millisecond))
	fmt.Println("T2:", estimate.TimeLeft(.5, 10*time.Second))
	// Output:
	// T1: 13.33s
	// T2: 10s
}

// The two tasks of LATE's Figure 2, subphase by subphase: T2 ends last, and the mean rate of the other task shows
// when.
func ExampleTimeLeftBySubphase() {
	const half = .5
	t1 := []estimate.Subphase{
		{Weight: half, Score: .5, Age: 10 * time.Second},
		{Weight: half, Score: .1, Age: 10 * time.Second},
	}
	t2 := []estimate.Subphase{
		{Weight: half, Score: .5, Age: 10 * time.Second},
		{Weight: half, PeerRate: .1 / 10}, // T1 has done 10 % in 10 s there,
	}
	fmt.Println("T1:", estimate.TimeLeftBySubphase(t1))
	fmt.Println("T2:", estimate.TimeLeftBySubphase(t2))
	// Output:
	// T1: 40s
	// T2: 50s
}

// The exact distribution of a changing set of values.
func ExampleEmpirical() {
	var e estimate.Empirical
	for _, seconds := range []float64{9, 11, 10, 10, 60} {
		e.Insert(seconds)
	}
	fmt.Println("mean", e.Mean(), "median", e.Quantile(.5), "p80", e.Quantile(.8))
	fmt.Println("P(X < 10) =", e.Below(10), " P(X <= 10) =", e.CDF(10))

	e.Delete(60)
	fmt.Println("mean", e.Mean(), "of", e.Len())
	// Output:
	// mean 20 median 10 p80 11
	// P(X < 10) = 0.2  P(X <= 10) = 0.6
	// mean 10 of 4
}
