// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane runs a real Kubernetes API server and the real Flux controllers as
// processes on the loopback address. Tests, the demo and the benchmark use it, so it must
// not import testing. It knows nothing of Stacks.
//
// It starts etcd and kube-apiserver itself instead of with controller-runtime's envtest,
// whose processes outlive a killed parent (such as a test that times out), whose ports
// are recorded in the user's cache directory, which the demo would leave behind, and
// whose API server cannot be restarted alone. It does use envtest to install CRDs.
package controlplane

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const (
	startTimeout = 3 * time.Minute
	stopGrace    = time.Minute
	adminUser    = "admin"
)

// Options of a control plane.
type Options struct {
	// Dir for all files. Required; it must exist and not be used by another control
	// plane.
	Dir string
	// BinDir has etcd and kube-apiserver. Empty is the bin/ of this repository.
	BinDir string
	// LogDir for the logs. Empty is Dir.
	LogDir string
	// CRDPaths are directories of CRD manifests to install, see ProjectCRDs.
	CRDPaths []string
	// AuditUsers are the users whose requests are logged, for Requests.
	AuditUsers []string
	// Silence is how long the API server may leave all requests unanswered before it has failed, see Context. Zero is 2 minutes.
	Silence time.Duration
}

// ControlPlane is a running etcd and kube-apiserver: RBAC is on, no controller manager, no kubelet, no ServiceAccount
// admission. Its methods are not safe for concurrent use, except for Stop.
type ControlPlane struct {
	dir    string
	server process.Spec // to start the API server again
	config *rest.Config
	watch

	changing        sync.Mutex
	etcd, apiserver *process.Process
}

// ProjectCRDs returns the directories with the CRDs of source-controller and of this project.
func ProjectCRDs() ([]string, error) {
	flux, err := process.FindBin(filepath.Join("crds", "source-controller"))
	if err != nil {
		return nil, err
	}
	root, err := process.RepoRoot()
	if err != nil {
		return nil, err
	}
	return []string{flux, filepath.Join(root, "config", "crd", "bases")}, nil
}

// Start returns when the API server is ready and the CRDs are served. The end of ctx stops everything, as Stop does.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	if options.LogDir == "" {
		options.LogDir = options.Dir
	}
	c := &ControlPlane{dir: options.Dir, watch: newWatch(options.Silence)}
	if err := c.start(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the control plane: %w", err), context.Cause(c.Context()), c.Stop())
	}
	context.AfterFunc(ctx, func() { _ = c.Stop() })
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context, options Options) error {
	token := rand.Text()
	files, err := writeServerFiles(options.Dir, token, loopback)
	if err != nil {
		return err
	}
	ports, err := process.FreePorts(2)
	if err != nil {
		return err
	}
	etcdURL := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	c.config = &rest.Config{
		Host:            fmt.Sprintf("https://127.0.0.1:%d", ports[1]),
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: files.certificate},
		QPS:             -1, // a test must not wait for a client-side limit
	}
	if err := WriteKubeconfig(c.KubeconfigPath(), c.config); err != nil {
		return err
	}
	if err := c.startEtcd(ctx, options, etcdURL); err != nil {
		return err
	}
	if c.server, err = apiServerSpec(options, files, etcdURL, ports[1]); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	return c.installCRDs(options.CRDPaths)
}

// startEtcd does not wait: the API server itself waits for etcd, so both can start at
// once.
func (c *ControlPlane) startEtcd(ctx context.Context, options Options, url string) error {
	path, err := program(options.BinDir, "etcd")
	if err != nil {
		return err
	}
	// The end of ctx must not end etcd directly: Stop ends it after the API server.
	etcd, err := process.Start(context.WithoutCancel(ctx), process.Spec{
		Name: "etcd",
		Path: path,
		Args: []string{
			"--data-dir=" + filepath.Join(options.Dir, "etcd"),
			"--listen-client-urls=" + url, "--advertise-client-urls=" + url,
			"--listen-peer-urls=http://127.0.0.1:0",
			"--unsafe-no-fsync", // no data has to survive a crash of the machine
			"--log-level=warn",
		},
		Env:   environment(options.Dir),
		Dir:   options.Dir,
		Log:   filepath.Join(options.LogDir, "etcd.log"),
		Grace: stopGrace,
	})
	if err != nil {
		return err
	}
	c.changing.Lock()
	c.etcd = etcd
	c.changing.Unlock()
	c.watchEtcd(etcd)
	return nil
}

func apiServerSpec(options Options, files serverFiles, etcdURL string, port int) (process.Spec, error) {
	path, err := program(options.BinDir, "kube-apiserver")
	if err != nil {
		return process.Spec{}, err
	}
	audit, err := auditArgs(options.Dir, options.AuditUsers)
	if err != nil {
		return process.Spec{}, err
	}
	return process.Spec{
		Name: "kube-apiserver",
		Path: path,
		Args: append([]string{
			"--etcd-servers=" + etcdURL,
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
			"--tls-cert-file=" + files.certificatePath, "--tls-private-key-file=" + files.keyPath,
			"--cert-dir=" + options.Dir,
			"--token-auth-file=" + files.tokensPath,
			"--authorization-mode=RBAC",
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + files.keyPath, "--service-account-signing-key-file=" + files.keyPath,
			"--service-cluster-ip-range=10.0.0.0/24",
			// The plugin waits for accounts that only a controller manager creates.
			"--disable-admission-plugins=ServiceAccount",
			// On some clusters, an owner reference that blocks deletion takes the right
			// to set finalizers on the owner.
			"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
			"--allow-privileged=true",
			// The kubernetes Service cannot have the loopback address as an endpoint, and
			// nobody needs it here.
			"--endpoint-reconciler-type=none",
		}, audit...),
		Env:   environment(options.Dir),
		Dir:   options.Dir,
		Log:   filepath.Join(options.LogDir, "kube-apiserver.log"),
		Grace: stopGrace,
	}, nil
}

// StartAPIServer restarts the API server after StopAPIServer or KillAPIServer, with the
// same port and data, and returns when it is ready and has a default namespace.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	if err := context.Cause(c.Context()); err != nil {
		return err
	}
	server, err := process.Start(context.WithoutCancel(ctx), c.server)
	if err != nil {
		return err
	}
	c.changing.Lock()
	c.apiserver = server
	c.changing.Unlock()
	transport, err := rest.TransportFor(c.config)
	if err != nil {
		return fmt.Errorf("making a client for the API server: %w", err)
	}
	client := &http.Client{Transport: transport, Timeout: 5 * time.Second}
	// The API server is ready before it has created its first namespaces.
	stored := process.HTTPProbe(client, c.config.Host+"/api/v1/namespaces/default")
	for _, probe := range []func(context.Context) error{process.HTTPProbe(client, c.config.Host+"/readyz"), stored} {
		if err := server.Await(ctx, startTimeout, probe); err != nil {
			return err
		}
	}
	c.watchServer(server, stored)
	return nil
}

// KillAPIServer kills the API server only, like an outage of the control plane.
func (c *ControlPlane) KillAPIServer() error {
	c.unwatchServer()
	return c.apiserver.Kill()
}

// StopAPIServer stops the API server only, like an upgrade of the control plane.
func (c *ControlPlane) StopAPIServer() error {
	c.unwatchServer()
	return c.apiserver.Stop()
}

// Stop ends both processes, and returns when they are gone. It keeps Options.Dir. It may
// be called twice.
func (c *ControlPlane) Stop() error {
	c.unwatch()
	var errs []error
	for _, p := range c.processes() {
		errs = append(errs, p.Stop())
	}
	return errors.Join(errs...)
}

// processes returns those that were started, in the order in which they must end: without etcd, the API server would not
// end in time.
func (c *ControlPlane) processes() []*process.Process {
	c.changing.Lock()
	defer c.changing.Unlock()
	return slices.DeleteFunc([]*process.Process{c.apiserver, c.etcd}, func(p *process.Process) bool { return p == nil })
}

// RESTConfig returns a new client configuration for the group system:masters, which may
// do everything. Set Impersonate to act with fewer rights.
func (c *ControlPlane) RESTConfig() *rest.Config { return rest.CopyConfig(c.config) }

// KubeconfigPath returns the path of a kubeconfig with the rights of RESTConfig.
func (c *ControlPlane) KubeconfigPath() string { return filepath.Join(c.dir, "kubeconfig") }

func (c *ControlPlane) installCRDs(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := envtest.InstallCRDs(c.RESTConfig(), envtest.CRDInstallOptions{
		Paths: paths, ErrorIfPathMissing: true, MaxTime: startTimeout, PollInterval: 20 * time.Millisecond,
	})
	if err != nil {
		return fmt.Errorf("installing CRDs: %w", err)
	}
	return nil
}

// WriteKubeconfig writes a client configuration to a file.
func WriteKubeconfig(path string, config *rest.Config) error {
	const name = "test"
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: config.BearerToken, Impersonate: config.Impersonate.UserName, ImpersonateGroups: config.Impersonate.Groups}
	kubeconfig.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	kubeconfig.CurrentContext = name
	if err := clientcmd.WriteToFile(*kubeconfig, path); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}

// program returns the path of a program in dir, or in the bin/ of this repository if dir
// is empty.
func program(dir, name string) (string, error) {
	if dir == "" {
		return process.FindBin(name)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("finding %s: %w", name, err)
	}
	return path, nil
}

// environment keeps the home and temporary directories of the programs inside dir. It
// also lets the heap grow: that saves a quarter of the processor time of a start, and the
// tests start many control planes.
func environment(dir string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "GOGC=400", "GOMEMLIMIT=512MiB"}
}
