# compactctl, static and not root. What it serves is reached from outside the container
# only with a token: docker run -p 8484:8484 -v archive:/archive -v ./token:/token:ro IMAGE \
#   serve --listen 0.0.0.0:8484 --token-file /token --archive /archive
# Set COMPACT_ARCHIVE_KEY (see docs/SECURITY.md): a key that is made in the container goes with it.
ARG GO=1.26
FROM --platform=$BUILDPLATFORM golang:${GO} AS build
ARG TARGETOS TARGETARCH RELEASE=""
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w -X main.release=$RELEASE" -o /out/compactctl ./cmd/compactctl \
 && install -d -o 65532 -g 65532 /out/archive

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/compactctl /usr/local/bin/compactctl
COPY --from=build --chown=65532:65532 /out/archive /archive
WORKDIR /
USER 65532:65532
VOLUME /archive
EXPOSE 8484
ENTRYPOINT ["compactctl"]
CMD ["--help"]
