package redact

import "testing"

func TestURLsLoseTheirPassword(t *testing.T) {
	family{
		secret: samples(
			in("fakeDb"+"Pass1", "connecting to postgres://app:%s@db.internal:5432/prod ...", "redis://:%s@cache:6379/0", "https://bob:%s@example.com/a?b=c", "DATABASE_URL=mysql://root:%s@127.0.0.1/app", `{"url": "amqp://guest1:%s@mq:5672"}`),
			in("p@ss"+"w0rd!", "mysql://root:%s@127.0.0.1/app"),
			in("pa/s"+"s#w0rd", "postgres://app:%s@db/prod"),
			in(letters(40), "git clone https://%s@github.com/a/b.git", "git+https://%s:x-oauth-basic@github.com/a/b.git", "https://x-access-token:%s@github.com/a/b"),
			in("Wj8n"+"R3vK6qTzLm4p", "curl https://%s:@api.example/v1/charges"),
		),
		clean: []string{"https://example.com:8080/a@b", "https://user@example.com", "http://localhost:3000/path:foo@bar", "postgres://user:password@localhost/db", "postgres://${USER}:${PASS}@host", "https://github.com/a/b@v1.2.3", "ssh://git@github.com/a/b", "mysql://user:****@host", "see https://example.com/x, mail bob@example.com"},
	}.check(t, newRedactor(t, Options{}))
}
