// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// transit responds like Vault's transit engine for one key, but does not encrypt: only
// the requests of the real CLI matter here.
func transit(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]string
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := map[string]string{"ciphertext": "vault:v1:" + body["plaintext"]}
		if path.Base(path.Dir(r.URL.Path)) == "decrypt" {
			answer = map[string]string{"plaintext": body["ciphertext"][len("vault:v1:"):]}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": answer})
	}))
	t.Cleanup(server.Close)
	return server
}

func TestAKeyManagementServiceEncryptsThroughTheCLI(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	vault := transit(t)
	update := func(value string) (Directory, run.Result) {
		r := l.update("")
		r.Program = run.Program{Artifact: &run.Artifact{}}
		r.Secrets = map[string]string{"pw": value, "other": "second4second4"}
		r.Env = map[string]string{"VAULT_SERVER_URL": vault.URL, "VAULT_SERVER_TOKEN": "t"}
		dir := Directory(t.TempDir())
		writeTree(t, dir.Workspace(), map[string]string{
			"Pulumi.yaml": "name: demo\nruntime: yaml\n", "Main.yaml": secretProgram + "  n: {\"fn::length\": \"${pw}\"}\n",
			"Pulumi.dev.yaml": "secretsprovider: hashivault://key\nconfig: {kept: x}\n",
		})
		return dir, l.driver.Do(t.Context(), dir, r, func(string) {})
	}
	dir, result := update("hunter2hunter2\n")
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.find("hunter2hunter2", string(dir), l.backend, filepath.Dir(l.calls))).To(BeEmpty())
	l.Expect(l.newCalls()).To(Equal([]string{"stack init", "config set", "config set", "up"}))
	l.Expect(l.state()).To(ContainSubstring("hashivault://key"))

	_, result = update("changed4changed4")
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.newCalls()).To(Equal([]string{"config set", "config set", "up"}))

	r := l.destroy()
	r.Env = map[string]string{"VAULT_SERVER_URL": vault.URL, "VAULT_SERVER_TOKEN": "t"}
	l.Expect(l.do(t.Context(), r).Outcome).To(Equal(run.Succeeded))
}
