package cluster

import (
	"fmt"
	"net"
	"path/filepath"
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

// Namespace is where the demo's workflows live.
const Namespace = "demo"

// Server is a Temporal server in this process, on the loopback interface. Its state is in one file, so it can be
// stopped and started again as if its machine had been restarted.
type Server struct {
	config  *config.Config
	running temporal.Server
}

// NewServer prepares a server that keeps its database in dir. Start runs it.
func NewServer(dir string) (*Server, error) {
	ports, err := freePorts(len(temporal.DefaultServices))
	if err != nil {
		return nil, err
	}
	s := &Server{config: serverConfig(filepath.Join(dir, "temporal.db"), ports)}
	sql := s.config.Persistence.DataStores[sqlite.PluginName].SQL
	namespace, err := sqliteschema.NewNamespaceConfig(s.config.ClusterMetadata.CurrentClusterName, Namespace, false, nil)
	if err != nil {
		return nil, err
	}
	return s, sqliteschema.CreateNamespaces(sql, namespace)
}

// Address is where clients reach the server. It stays the same over a Stop and a Start.
func (s *Server) Address() string { return s.config.PublicClient.HostPort }

// Start runs the server. It returns once the server answers.
func (s *Server) Start() error {
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, service := range s.config.Services {
		if err := bindable(service.RPC.GRPCPort); err != nil {
			return fmt.Errorf("temporal server, %s: %w", name, err)
		}
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(loopback(service.RPC.GRPCPort))
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(s.config),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(log.NewNoopLogger()),
		temporal.WithCustomMetricsHandler(metrics.NoopMetricsHandler),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{
			// The default, a second, is how late a timer may fire: too coarse for tasks of seconds.
			dynamicconfig.TimerProcessorMaxTimeShift.Key(): 50 * time.Millisecond,
		}),
	)
	if err != nil {
		return fmt.Errorf("temporal server: %w", err)
	}
	s.running = server
	return server.Start()
}

// Stop ends the server. Workflows and their histories stay in its database.
func (s *Server) Stop() error {
	if s.running == nil {
		return nil
	}
	err := s.running.Stop()
	s.running = nil
	return err
}

func serverConfig(file string, ports []int) *config.Config {
	services := map[string]config.Service{}
	for i, name := range temporal.DefaultServices {
		services[name] = config.Service{RPC: config.RPC{GRPCPort: ports[i], BindOnLocalHost: true}}
	}
	address := loopback(services[string(primitives.FrontendService)].RPC.GRPCPort)
	return &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     sqlite.PluginName,
			VisibilityStore:  sqlite.PluginName,
			NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{sqlite.PluginName: {SQL: &config.SQL{
				PluginName:   sqlite.PluginName,
				DatabaseName: file,
				// The demo's data need not survive the machine, so nothing waits for the disk.
				ConnectAttributes: map[string]string{"mode": "rwc", "setup": "true", "journal_mode": "wal", "synchronous": "off"},
			}}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        "active",
			CurrentClusterName:       "active",
			ClusterInformation: map[string]cluster.ClusterInformation{
				"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		PublicClient: config.PublicClient{HostPort: address},
		Services:     services,
	}
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// bindable returns an error if another program has the port. The server itself would panic.
func bindable(port int) error {
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return err
	}
	return l.Close()
}

// freePorts asks the system for ports that are free now.
func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", loopback(0))
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
