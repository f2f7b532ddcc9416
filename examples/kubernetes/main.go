// Command kubernetes runs Jobs with restart/engine/kubernetes on a real control plane on this machine, under several
// policies. The control plane is etcd and the API server, scheduler and controller manager of Kubernetes. There are
// four nodes, and the pods are processes. In the scenarios, a node is slow or dies, a pod hangs, the data is skewed,
// or the controller or the API server is killed.
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

// dispatch runs the part that the first argument names: a pod, the controller, a part of the control plane, or,
// without such an argument, the demonstration.
func dispatch(ctx context.Context, args []string) error {
	switch {
	case len(args) > 0 && args[0] == "work":
		return work(args[1:])
	case len(args) > 0 && args[0] == "controller":
		return control(ctx, args[1])
	case len(args) > 0 && strings.HasPrefix(args[0], "kube-"): // each part installs its own signal handler
		_, err := plane.Component(args)
		return err
	}
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // hides errors of watches that end with the API server
	var choice kit.Choice
	choice.Flags(flag.CommandLine)
	check := flag.Bool("check", false, "exit with an error if a Job under the controller did not end correctly")
	serve := flag.Bool("serve", false, "start the cluster, print the path of its kubeconfig, and run no Job")
	flag.Parse()
	chosen, err := kit.Pick(choice.Scenarios, scenarios, func(s scenario) string { return s.name })
	if err != nil {
		return err
	}
	l, err := newLab(ctx)
	if err != nil {
		return err
	}
	defer l.stop()
	if *serve {
		fmt.Println("export KUBECONFIG=" + l.plane.Kubeconfig)
		<-ctx.Done()
		return nil
	}
	return l.demonstrate(ctx, chosen, choice, *check)
}

// control runs the controller in this process, without leader election. If there are two controllers, both act.
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

// known returns an error if the text is neither a policy of the controller nor a way to run without the controller.
func known(text string) (bool, error) {
	if text == builtIn || text == eviction {
		return true, nil
	}
	_, err := kit.Policy(text)
	return err == nil, err
}

// comparison describes the columns of the tables. The time of a Job that has not ended is the time limit.
var comparison = kit.Comparison[*trial]{
	Seconds: func(t *trial) float64 { return t.seconds },
	Right:   func(t *trial) bool { return len(t.wrong) == 0 },
	Measures: []kit.Measure[*trial]{
		kit.Count("more pods", func(t *trial) int { return t.again }),
		kit.Count("failed", func(t *trial) int { return t.failed }),
	},
}

func (l *lab) demonstrate(ctx context.Context, chosen []scenario, choice kit.Choice, check bool) error {
	failed := 0
	for i := range chosen {
		s := &chosen[i]
		policies, err := kit.Policies(choice.Policies, s.policies, known)
		if err != nil {
			return fmt.Errorf("scenario %s: %w", s.name, err)
		}
		trials, err := kit.Repeat(choice.Runs, policies, func(policy string, _ int) (*trial, error) {
			t := &trial{lab: l, scenario: s, policy: policy}
			if err := t.run(ctx); err != nil {
				return nil, fmt.Errorf("%w; the logs are in %s", err, l.dir)
			}
			if len(t.wrong) > 0 && (t.policy != builtIn && t.policy != "none") {
				failed++
			}
			slog.Info("ran", "scenario", s.name, "policy", policy, "seconds", t.seconds, "again", t.again, "failed", t.failed,
				"kills", t.kills, "wrong", t.wrong)
			if choice.Verbose {
				fmt.Println(strings.Join(t.events, "\n"))
			}
			return t, nil
		})
		if err != nil {
			return fmt.Errorf("scenario %s, %w", s.name, err)
		}
		comparison.Print(os.Stdout, s.title, policies, trials)
	}
	fmt.Printf("\nLoad of the machine at the end: %s.\n", load())
	if check && failed > 0 {
		return fmt.Errorf("%d Jobs did not end correctly", failed)
	}
	return nil
}

// load returns the load averages of the machine over 1, 5 and 15 minutes.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return "not known"
	}
	return fmt.Sprintf("%s, %s, %s on %d processors", fields[0], fields[1], fields[2], runtime.NumCPU())
}
