package redact

import (
	"encoding/base64"
	"testing"
)

func TestManifestsOfSecretsLoseTheirData(t *testing.T) {
	plain := base64.StdEncoding.EncodeToString([]byte("only letters here"))
	family{
		secret: samples(
			in(plain, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  note: %s\n", "data:\n  a.txt: %s\nkind: Secret\n", "kind: \"Secret\"\nstringData:\n    a: '%s'\ntype: Opaque\n", "kind: Secret\ndata:\n  note: |\n    %s\nimmutable: true\n", "@@ -0,0 +1,3 @@\n+kind: Secret\n+data:\n+  note: %s\n"),
		),
		clean: []string{
			"kind: ConfigMap\ndata:\n  note: " + plain + "\n",
			"kind: Secret\nmetadata:\n  name: a-name\n  labels:\n    app: web\n",
			"kind: Secret\ndata:\n  a: {{ .Values.a }}\n",
			"kind: SecretStore\nspec:\n  data: x\n",
			"kind: Secret\n---\nkind: ConfigMap\ndata:\n  note: " + plain + "\n",
		},
	}.check(t, newRedactor(t, Options{}))
}
