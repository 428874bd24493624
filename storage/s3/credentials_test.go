package s3_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// withoutKeys removes the sources that the default chain would find first.
func withoutKeys(t *testing.T) {
	t.Helper()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"} {
		t.Setenv(name, "")
		must(t, os.Unsetenv(name))
	}
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("AWS_CONFIG_FILE", none)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", none)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

func writes(t *testing.T, c s3.Config) {
	t.Helper()
	a := open(t, c)
	k := key(t, "s/"+strings.ToLower(rand.Text()))
	must(t, a.Create(t.Context(), k, raw("with credentials")))
	if got, err := read(t.Context(), a, k, 0, -1); got != "with credentials" || err != nil {
		t.Errorf("read back %q, %v; want %q and no error", got, err, "with credentials")
	}
}

func TestCredentialsComeFromAProfile(t *testing.T) {
	s := s3test.Versitygw(t)
	c := s.Config(s.Bucket(t, false))
	id, secret := s3test.Keys(t)
	withoutKeys(t)
	file := filepath.Join(t.TempDir(), "credentials")
	must(t, os.WriteFile(file, fmt.Appendf(nil, "[archiver]\naws_access_key_id = %s\naws_secret_access_key = %s\n", id, secret), 0o600))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	t.Setenv("AWS_PROFILE", "archiver")
	writes(t, c)
}

func TestCredentialsComeFromTheContainerAndAreRefreshed(t *testing.T) {
	s := s3test.MinIO(t)
	c := s.Config(s.Bucket(t, false))
	id, secret := s3test.Keys(t)
	withoutKeys(t)
	var asked atomic.Int64
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Authorization") != "Bearer of the pod" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{
			"AccessKeyId": id, "SecretAccessKey": secret, "Expiration": time.Now().Add(2 * time.Second).UTC().Format(time.RFC3339),
		})
	}))
	defer agent.Close()
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte("Bearer of the pod"), 0o600))
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", strings.Replace(agent.URL, "127.0.0.1", "localhost", 1))
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file)
	a := open(t, c)
	first := asked.Load()
	time.Sleep(2500 * time.Millisecond)
	must(t, a.Create(t.Context(), key(t, "s/f"), raw("after they expired")))
	if first == 0 || asked.Load() <= first {
		t.Errorf("the container was asked %d times, and %d times after the credentials had expired", first, asked.Load()-first)
	}
}

func TestCredentialsComeFromWebIdentity(t *testing.T) {
	issuer := newIssuer(t)
	m := s3test.StartMinIO(t, "MINIO_IDENTITY_OPENID_CONFIG_URL="+issuer.url+"/.well-known/openid-configuration",
		"MINIO_IDENTITY_OPENID_CLIENT_ID=archiver", "MINIO_IDENTITY_OPENID_ROLE_POLICY=readwrite")
	s := s3test.Connect(t, m.Endpoint)
	c := s.Config(s.Bucket(t, false))
	role := m.Find(regexp.MustCompile(`arn:minio:iam:::role/\S+`))
	withoutKeys(t)
	file := filepath.Join(t.TempDir(), "token")
	token := issuer.token(t)
	must(t, os.WriteFile(file, []byte(token), 0o600))
	awaitRole(t, m.Endpoint, role, token)
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", file)
	t.Setenv("AWS_ROLE_ARN", role)
	t.Setenv("AWS_ROLE_SESSION_NAME", "archiver")
	t.Setenv("AWS_ENDPOINT_URL_STS", m.Endpoint)
	writes(t, c)
}

// awaitRole waits until the server gives credentials for the role. MinIO listens, and
// prints its roles, before it has loaded the policies that they name.
func awaitRole(t *testing.T, endpoint, role, token string) {
	t.Helper()
	form := url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "DurationSeconds": {"900"},
		"RoleArn": {role}, "RoleSessionName": {"archiver"}, "WebIdentityToken": {token},
	}
	var said string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		resp, err := http.PostForm(endpoint, form)
		must(t, err)
		body, err := io.ReadAll(resp.Body)
		must(t, errors.Join(err, resp.Body.Close()))
		if resp.StatusCode == http.StatusOK {
			return
		}
		said = string(body)
	}
	t.Fatalf("no credentials for %s; the server said: %s", role, said)
}

func TestNoCredentialsIsAClearError(t *testing.T) {
	s := s3test.Plain(t)
	c := s.Config(s.Bucket(t, false))
	withoutKeys(t)
	if _, err := s3.Open(t.Context(), c); !errors.Is(err, s3.ErrNoCredentials) {
		t.Errorf("got %v, want ErrNoCredentials", err)
	}
}

// issuer issues identities, like a cluster for its pods.
type issuer struct {
	url string
	key *rsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	i := &issuer{key: key}
	mux := http.NewServeMux()
	answer := func(path string, v func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v())
		})
	}
	answer("/.well-known/openid-configuration", func() any {
		return map[string]any{
			"issuer": i.url, "jwks_uri": i.url + "/keys", "authorization_endpoint": i.url + "/auth", "token_endpoint": i.url + "/token",
			"response_types_supported": []string{"id_token"}, "subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
		}
	})
	answer("/keys", func() any {
		return map[string]any{"keys": []map[string]string{{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one",
			"n": segment(key.N.Bytes()), "e": segment(big.NewInt(int64(key.E)).Bytes()),
		}}}
	})
	srv := httptest.NewUnstartedServer(mux)
	i.url = "http://" + srv.Listener.Addr().String()
	srv.Start()
	t.Cleanup(srv.Close)
	return i
}

func segment(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// token returns a signed statement that names the archiver.
func (i *issuer) token(t *testing.T) string {
	t.Helper()
	part := func(v any) string {
		b, err := json.Marshal(v)
		must(t, err)
		return segment(b)
	}
	now := time.Now().Unix()
	signed := part(map[string]string{"alg": "RS256", "typ": "JWT", "kid": "one"}) + "." +
		part(map[string]any{"iss": i.url, "sub": "pod", "aud": "archiver", "iat": now, "exp": now + 3600})
	sum := sha256.Sum256([]byte(signed))
	sig, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	must(t, err)
	return signed + "." + segment(sig)
}

// TestExtraCertificatesAreTrusted: behind a company's proxy AWS_CA_BUNDLE is
// set, which the SDK accepts only with a client that it can change.
func TestExtraCertificatesAreTrusted(t *testing.T) {
	s := s3test.Plain(t)
	c := s.Config(s.Bucket(t, false))
	front := httptest.NewTLSServer(s.Front(t))
	defer front.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}), 0o600))
	c.Endpoint = front.URL
	t.Setenv("AWS_CA_BUNDLE", file)
	writes(t, c)
}
