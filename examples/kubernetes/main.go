// Command kubernetes shows restart/engine/kubernetes at work on a real control plane on this machine: etcd, the API
// server, the scheduler and the controller manager of Kubernetes, four nodes whose pods are processes, and Jobs under
// several policies while a node is slow or dies, a pod hangs, the data is skewed, and the controller or the API server
// is killed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/examples/kubernetes/internal/plane"
	"github.com/straggler-go/straggler/restart/engine/kubernetes/jobs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := dispatch(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes:", err)
		os.Exit(1)
	}
}

// dispatch has this program be what its first argument says: a pod, the controller, a part of the control plane, or the
// demonstration.
func dispatch(ctx context.Context, args []string) error {
	switch {
	case len(args) > 0 && args[0] == "work":
		return work(args[1:])
	case len(args) > 0 && args[0] == "controller":
		return control(ctx, args[1])
	case len(args) > 0 && strings.HasPrefix(args[0], "kube-"): // each sets up its own handler of signals
		_, err := plane.Component(args)
		return err
	}
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // watches that end with the API server
	var choice kit.Choice
	choice.Flags(flag.CommandLine)
	o := options{}
	flag.BoolVar(&o.verbose, "v", false, "print what was decided")
	flag.BoolVar(&o.check, "check", false, "fail if a Job under the controller did not end as it must")
	flag.Parse()
	chosen, err := kit.Pick(choice.Scenarios, scenarios, func(s scenario) string { return s.name })
	if err != nil {
		return err
	}
	return demonstrate(ctx, chosen, choice, o)
}

// control is the controller as a process of its own, without election: there is one at a time.
func control(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 1000, 2000
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	c, err := jobs.New(jobs.Config{Client: client, Evict: true, Interval: time.Second, ParsePolicy: kit.Policy})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

type options struct{ verbose, check bool }

func demonstrate(ctx context.Context, chosen []scenario, choice kit.Choice, o options) error {
	l, err := newLab(ctx)
	if err != nil {
		return err
	}
	defer l.stop()
	failed := 0
	for i := range chosen {
		s := &chosen[i]
		policies, err := kit.Pick(choice.Policies, s.policies, func(p string) string { return p })
		if err != nil {
			return fmt.Errorf("scenario %s: %w", s.name, err)
		}
		trials := map[string][]*trial{}
		for range choice.Runs {
			for _, policy := range policies {
				t := &trial{lab: l, scenario: s, policy: policy}
				if err := t.run(ctx); err != nil {
					return fmt.Errorf("scenario %s, policy %s: %w; the logs are in %s", s.name, policy, err, l.dir)
				}
				trials[policy] = append(trials[policy], t)
				if len(t.wrong) > 0 && (t.policy != "built-in" && t.policy != "none") {
					failed++
				}
				slog.Info("ran", "scenario", s.name, "policy", policy, "seconds", t.seconds, "again", t.again, "failed", t.failed,
					"kills", t.kills, "wrong", t.wrong)
				if o.verbose {
					fmt.Println(strings.Join(t.events, "\n"))
				}
			}
		}
		print(s, policies, trials)
	}
	fmt.Printf("\nLoad of the machine at the end: %s.\n", load())
	if o.check && failed > 0 {
		return fmt.Errorf("%d Jobs did not end as they must", failed)
	}
	return nil
}

// load is how many processes wanted a processor in the last 1, 5 and 15 minutes.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return "not known"
	}
	return fmt.Sprintf("%s, %s, %s on %d processors", fields[0], fields[1], fields[2], runtime.NumCPU())
}

// print prints the table of a scenario.
func print(s *scenario, policies []string, trials map[string][]*trial) {
	seconds := func(t *trial) float64 { return t.seconds }
	base := kit.Median(trials[policies[0]], seconds)
	var rows [][]string
	for _, policy := range policies {
		all := trials[policy]
		right, ended := 0, 0
		for _, t := range all {
			if len(t.wrong) == 0 {
				right++
			}
			if t.ended {
				ended++
			}
		}
		more := ""
		if ended <= len(all)/2 {
			more = "> "
		}
		took := kit.Median(all, seconds)
		rows = append(rows, []string{policy, fmt.Sprintf("%s%.1f s", more, took), fmt.Sprintf("%.2f", took/base),
			fmt.Sprintf("%.0f", kit.Median(all, func(t *trial) float64 { return float64(t.again) })),
			fmt.Sprintf("%.0f", kit.Median(all, func(t *trial) float64 { return float64(t.failed) })),
			fmt.Sprintf("%d/%d", right, len(all))})
	}
	fmt.Printf("\n%s:\n\n", s.title)
	kit.Table(os.Stdout, []string{"policy", "time", "relative", "more pods", "failed", "correct"}, rows)
}
