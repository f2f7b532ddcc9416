// Command straggler-controller is a Kubernetes Job controller that copies slow pods. It runs the Indexed Jobs whose
// spec.managedBy is its name. The command runs package restart/engine/kubernetes/jobs with flags, metrics and leader
// election:
//
//	straggler-controller -interval=10s
//
// The controller runs as a pod of the cluster, or outside the cluster with a kubeconfig file. Several controllers may
// run at once: they elect a leader by a lease, and only the leader works. The flag -help lists the flags. The README
// of this module describes the settings of a Job.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/straggler-go/straggler/restart/engine/kubernetes/jobs"
)

// options contains the values of the flags, and whether this controller is the leader.
type options struct {
	kubeconfig     string        // path of the kubeconfig file; "": the service account of this pod
	listen         string        // address on which /metrics, /healthz and /readyz are served; "": none
	policy         string        // text of the policy for Jobs without PolicyAnnotation; "": restart.LeastCost
	journals       string        // directory of the journals; "": none
	effect         string        // effect of the taint of slow nodes; "": no taint
	leaseNamespace string        // namespace of the lease; "": the namespace "default"
	qps            float64       // limit of requests to the API server in a second
	elect          bool          // elect a leader among several controllers
	lease          time.Duration // time without a renewal after which the leader is taken to be dead
	jobs           jobs.Config
	leads          atomic.Bool // this controller works, or begins to work
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "`file`; empty: the configuration of this pod")
	flag.StringVar(&o.listen, "listen", ":8080", "`address` of /metrics, /healthz and /readyz; empty: none")
	flag.StringVar(&o.policy, "policy", "",
		"`policy` of Jobs without the annotation, such as late,min-age=5s; empty: the library's default")
	flag.StringVar(&o.jobs.Manager, "manager", jobs.Manager, "spec.managedBy of the Jobs to run")
	flag.StringVar(&o.jobs.Namespace, "namespace", "", "`namespace` of the Jobs to run; empty: all")
	flag.DurationVar(&o.jobs.Interval, "interval", 10*time.Second, "time between two polls of a Job")
	flag.IntVar(&o.jobs.Workers, "workers", 8, "how many Jobs are synced at once")
	flag.BoolVar(&o.jobs.Evict, "evict", false, "evict slow pods of the built-in controller's Jobs with the annotation evict")
	flag.BoolVar(&o.jobs.Shadow, "shadow", false,
		"decide about slow pods without acting, for Jobs without the annotation shadow")
	flag.StringVar(&o.journals, "journals", "", "`directory` for a journal of each Job; empty: none")
	flag.StringVar(&o.effect, "taint", "", "`effect` of the taint of slow nodes: NoSchedule or PreferNoSchedule; empty: no taint")
	flag.DurationVar(&o.jobs.Taint.For, "taint-for", time.Hour, "how long a taint stays")
	flag.Float64Var(&o.jobs.Taint.Share, "taint-share", 0.1, "share of the nodes that may be tainted at once")
	flag.Float64Var(&o.qps, "qps", 100, "requests to the API server in a second; bursts may have twice as many")
	flag.BoolVar(&o.elect, "leader-elect", true, "elect a leader among several controllers by a lease; only the leader works")
	flag.StringVar(&o.leaseNamespace, "lease-namespace", os.Getenv("POD_NAMESPACE"), "`namespace` of the lease")
	flag.DurationVar(&o.lease, "lease", 15*time.Second, "time without a renewal after which the leader is taken to be dead")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "straggler-controller: %q is no flag\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &o); err != nil && !errors.Is(err, context.Canceled) {
		slog.Error("straggler-controller", "error", err)
		os.Exit(1)
	}
}

// run makes the controller and runs it. With leader election, it first waits until this controller is the leader. run
// returns the first error, or the cause of ctx if ctx ends.
func run(ctx context.Context, o *options) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = float32(o.qps), int(2*o.qps)
	config.ContentType = "application/vnd.kubernetes.protobuf" // protobuf is smaller than JSON, and makes less garbage
	config.AcceptContentTypes = config.ContentType + ",application/json"
	if o.jobs.Client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	o.jobs.Taint.Effect = v1.TaintEffect(o.effect)
	if o.policy != "" {
		if o.jobs.Policy, err = jobs.ParsePolicy(o.policy); err != nil {
			return err
		}
	}
	if o.journals != "" {
		o.jobs.Journal, o.jobs.OnEnd = true, func(s jobs.Summary) {
			name := fmt.Sprintf("%s.%s.%s.journal", s.Job.Namespace, s.Job.Name, s.Job.UID)
			if err := os.WriteFile(filepath.Join(o.journals, name), s.Journal, 0o644); err != nil {
				slog.Warn("journal", "error", err)
			}
		}
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	o.jobs.Registry = registry
	controller, err := jobs.New(o.jobs)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if o.listen != "" {
		serve(ctx, end, o, registry, controller)
	}
	if !o.elect {
		o.leads.Store(true)
		return controller.Run(ctx)
	}
	return elect(ctx, end, o, config, controller)
}

// serve starts an HTTP server for Prometheus and for the probes of the kubelet. A controller that waits for the lease
// is ready. The leader is ready as soon as the API server has listed the Jobs, pods and nodes. If the server fails,
// serve calls end with the error.
func serve(
	ctx context.Context, end context.CancelCauseFunc, o *options, registry *prometheus.Registry, controller *jobs.Controller,
) {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if missing := controller.Missing(); o.leads.Load() && len(missing) > 0 {
			http.Error(w, "waits for the list of "+strings.Join(missing, ", "), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	server := &http.Server{Addr: o.listen, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { end(server.ListenAndServe()) }()
	context.AfterFunc(ctx, func() { server.Close() })
}

// elect waits for the lease, and runs the controller as long as it has the lease. If the controller loses the lease,
// it ends, because its cached state of the cluster may be old. The lease is released only after the controller has
// stopped.
func elect(
	ctx context.Context, end context.CancelCauseFunc, o *options, config *rest.Config, controller *jobs.Controller,
) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	// a client of its own, so that other requests do not delay the renewals of the lease
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(config, "leader-election"))
	if err != nil {
		return err
	}
	namespace := o.leaseNamespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: "straggler-controller", Namespace: namespace},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("%s-%d", name, time.Now().UnixNano())},
	}
	// The context electing may end later than ctx, because the leader keeps the lease until its controller has
	// stopped. A controller that waits for the lease ends at once.
	electing, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	defer context.AfterFunc(ctx, func() {
		if !o.leads.Load() {
			release()
		}
	})()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, ReleaseOnCancel: true, Name: "straggler-controller",
		LeaseDuration: o.lease, RenewDeadline: o.lease * 2 / 3, RetryPeriod: o.lease / 8,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				o.leads.Store(true)
				defer release()
				defer context.AfterFunc(leading, func() { end(errors.New("the controller has lost its lease")) })()
				end(controller.Run(ctx))
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	elector.Run(electing)
	return context.Cause(ctx)
}
