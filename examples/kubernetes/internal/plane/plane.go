// Package plane starts the control plane of Kubernetes on the loopback interface. etcd runs in this process.
// kube-apiserver, kube-controller-manager and kube-scheduler run as three further processes of this program, because
// each installs a signal handler, which a process may do only once.
package plane

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/embed"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// Token is the token of the only user, who may do everything.
const Token = "demo"

// Component runs a part of the control plane in this process if the first argument is its name. It reports whether it
// did.
func Component(args []string) (was bool, err error) {
	if len(args) == 0 {
		return false, nil
	}
	var command *cobra.Command
	switch args[0] {
	case "kube-apiserver":
		command = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		command = manager.NewControllerManagerCommand()
	case "kube-scheduler":
		command = scheduler.NewSchedulerCommand()
	default:
		return false, nil
	}
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
	command.SetArgs(args[1:])
	return true, command.Execute()
}

// Plane is a running control plane.
type Plane struct {
	Client     *kubernetes.Clientset
	Config     *rest.Config
	Kubeconfig string // path of the kubeconfig file

	dir    string
	etcd   *embed.Etcd
	server *Process
	others []*Process
	flags  []string // flags of the API server
}

// Start starts a control plane with its files in a directory, and returns as soon as it answers.
func Start(ctx context.Context, dir string) (*Plane, error) {
	p := &Plane{dir: dir}
	etcd, err := p.startEtcd()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	if err := p.prepare(etcd, port); err != nil {
		return nil, err
	}
	if err := p.StartServer(ctx); err != nil {
		return nil, err
	}
	common := []string{"--kubeconfig=" + p.Kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=1000", "--kube-api-burst=2000"}
	for _, component := range [][]string{
		{"kube-controller-manager", "--controllers=job-controller,node-lifecycle-controller," +
			"pod-garbage-collector-controller,garbage-collector-controller,taint-eviction-controller," +
			"ttl-after-finished-controller"},
		{"kube-scheduler"},
	} {
		c, err := Spawn(dir, append(component, common...)...)
		if err != nil {
			return nil, err
		}
		p.others = append(p.others, c)
	}
	return p, nil
}

// Stop ends all parts of the control plane.
func (p *Plane) Stop() {
	for _, c := range append(p.others, p.server) {
		c.Kill()
	}
	p.etcd.Close()
}

func (p *Plane) startEtcd() (client url.URL, err error) {
	c := embed.NewConfig()
	c.Dir, c.LogLevel, c.UnsafeNoFsync = filepath.Join(p.dir, "etcd"), "fatal", true
	var at [2]url.URL
	for i := range at {
		port, err := freePort()
		if err != nil {
			return client, err
		}
		at[i] = url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}
	}
	c.ListenClientUrls, c.AdvertiseClientUrls = at[:1], at[:1]
	c.ListenPeerUrls, c.AdvertisePeerUrls = at[1:], at[1:]
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	if p.etcd, err = embed.StartEtcd(c); err != nil {
		return client, err
	}
	<-p.etcd.Server.ReadyNotify()
	return at[0], nil
}

// prepare writes the files that the components share.
func (p *Plane) prepare(etcd url.URL, port int) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	keyFile, tokens := filepath.Join(p.dir, "sa.key"), filepath.Join(p.dir, "tokens.csv")
	p.Kubeconfig = filepath.Join(p.dir, "kubeconfig")
	host := fmt.Sprintf("https://127.0.0.1:%d", port)
	for file, text := range map[string][]byte{
		keyFile:      pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		tokens:       []byte(Token + ",admin,admin,system:masters\n"),
		p.Kubeconfig: fmt.Appendf(nil, kubeconfig, host, Token),
	} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
	}
	p.flags = []string{"kube-apiserver",
		"--etcd-servers=" + etcd.String(), fmt.Sprintf("--secure-port=%d", port),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--cert-dir=" + p.dir,
		"--service-cluster-ip-range=10.0.0.0/24", "--token-auth-file=" + tokens, "--authorization-mode=AlwaysAllow",
		"--service-account-issuer=https://demo", "--service-account-key-file=" + keyFile,
		"--service-account-signing-key-file=" + keyFile, "--disable-admission-plugins=ServiceAccount",
		"--endpoint-reconciler-type=none", "--enable-priority-and-fairness=false", "--shutdown-delay-duration=0s"}
	p.Config = &rest.Config{Host: host, BearerToken: Token, QPS: 2000, Burst: 4000,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	p.Client, err = kubernetes.NewForConfig(p.Config)
	return err
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: demo, cluster: {server: "%s", insecure-skip-tls-verify: true}}]
users: [{name: demo, user: {token: %s}}]
contexts: [{name: demo, context: {cluster: demo, user: demo}}]
current-context: demo
`

// StartServer starts the API server, also after KillServer, and returns as soon as it answers.
func (p *Plane) StartServer(ctx context.Context) (err error) {
	if p.server, err = Spawn(p.dir, p.flags...); err != nil {
		return err
	}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err = p.Client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{}); err == nil {
			return nil
		}
	}
	return fmt.Errorf("the API server does not answer: %w; see %s", err, filepath.Join(p.dir, "kube-apiserver.log"))
}

// KillServer kills the API server.
func (p *Plane) KillServer() { p.server.Kill() }

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
