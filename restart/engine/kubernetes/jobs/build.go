package jobs

import (
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
)

// modulePath is the path of the Go module that contains this package.
const modulePath = "github.com/straggler-go/straggler/restart/engine/kubernetes"

// buildInfo returns the metric build_info. Its labels are the version of the controller, the commit of the program
// and the version of Go. known is false if the program contains no build information. Then the labels are "unknown".
func buildInfo(info *debug.BuildInfo, known bool) prometheus.Collector {
	version, revision, language := "unknown", "unknown", "unknown"
	if known {
		version, language = versionOf(info), info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: "straggler", Name: "build_info", Help: "1, with the version of the controller, the program's commit and its Go version.",
		ConstLabels: prometheus.Labels{"version": version, "revision": revision, "go": language},
	})
	g.Set(1)
	return g
}

// versionOf returns the version of the module of this package in a program. The program is part of the module, or
// depends on it.
func versionOf(info *debug.BuildInfo) string {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		switch {
		case m.Path != modulePath:
		case m.Replace == nil:
			return m.Version
		case m.Replace.Version == "": // the module was replaced by a directory, which has no version
			return "(devel)"
		default:
			return m.Replace.Version
		}
	}
	return info.Main.Version
}
