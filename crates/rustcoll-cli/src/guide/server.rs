//! Serves the guide on this machine's own address.

use super::address::{Address, is_page};
use super::content::Content;
use crate::failure::Failure;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::hash_map::DefaultHasher;
use std::env;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

/// The first port to try.
const PORT: u16 = 8317;

/// After this many ports, the server takes any free one.
const PORTS: u16 = 16;

/// Tells the page that the server answers every path with the page, and what relative addresses are relative to.
const SERVED: &str = r#"<head><base href="/"><meta name="routing" content="history">"#;

/// The page contains everything it needs. These headers forbid loading anything else.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CACHE_CONTROL, "no-cache"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; worker-src blob: data:; \
         img-src data: blob:; font-src data:; base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
    ),
];

/// Serves the guide until a signal ends it.
pub fn serve(
    content: &Content,
    port: Option<u16>,
    address: &Address,
    opens: bool,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let site = site(&content.page)?;
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let stopped = stopped()?;
        let listener = listener(port).await?;
        let url = address.on(listener.local_addr()?.port());
        writeln!(output, "The guide is at {url} until Ctrl-C.")?;
        output.flush()?;
        if opens && let Err(reason) = open(&url) {
            eprintln!("rustcoll: no browser is opened: {reason}");
        }
        tokio::select! {
            ended = axum::serve(listener, site) => ended?,
            () = stopped => (),
        }
        Ok(())
    })
}

/// Returns a future that ends when the user or the system asks the command to stop.
fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => (),
            _ = terminated.recv() => (),
        }
    })
}

async fn listener(port: Option<u16>) -> Result<TcpListener, Failure> {
    if let Some(port) = port {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        return bound.map_err(|error| Failure::Input(format!("--port {port}: {error}; 0 is any free port")));
    }
    for port in PORT..PORT + PORTS {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            return Ok(listener);
        }
    }
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    bound.map_err(|error| Failure::Input(format!("no port can be listened on: {error}")))
}

/// Opens a browser. Without a screen, the system's opener would start one in the terminal, or none.
fn open(url: &str) -> Result<(), String> {
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].iter().any(|name| env::var_os(name).is_some());
    if cfg!(target_os = "linux") && !has_screen {
        return Err(
            "there is no screen; open the address yourself, from another machine through `ssh -L`".into()
        );
    }
    open::that_detached(url).map_err(|error| format!("{error}; open the address yourself"))
}

/// The page as the server sends it.
struct Page {
    plain: Bytes,
    compressed: Bytes,
    tag: HeaderValue,
}

fn site(page: &str) -> io::Result<Router> {
    let plain = page.replacen("<head>", SERVED, 1);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain.as_bytes())?;
    let mut hasher = DefaultHasher::new();
    plain.hash(&mut hasher);
    let page = Page {
        compressed: encoder.finish()?.into(),
        tag: HeaderValue::try_from(format!("\"{:x}\"", hasher.finish())).map_err(io::Error::other)?,
        plain: plain.into(),
    };
    let site = Router::new().fallback(get(answer)).with_state(Arc::new(page));
    Ok(site.layer(middleware::from_fn(refuse_other_hosts)))
}

/// Refuses other host names. A stranger's name may lead here, and the stranger's pages must not read the answer.
async fn refuse_other_hosts(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let host = request.uri().authority().map_or(host, |authority| authority.as_str());
    let name =
        host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    match ["localhost", "127.0.0.1", "[::1]"].contains(&name) {
        true => next.run(request).await,
        false => (StatusCode::FORBIDDEN, "The guide answers to localhost, 127.0.0.1 and [::1] only.\n")
            .into_response(),
    }
}

/// Answers unknown pages with the page as well; the page says that they are unknown. Unknown files get no page.
async fn answer(State(page): State<Arc<Page>>, uri: Uri, request: HeaderMap) -> Response {
    let status = match is_page(uri.path()) {
        true => StatusCode::OK,
        false if uri.path().contains('.') => {
            return (StatusCode::NOT_FOUND, "There is no such file.\n").into_response();
        }
        false => StatusCode::NOT_FOUND,
    };
    let common =
        [(header::ETAG, page.tag.clone()), (header::VARY, HeaderValue::from_static("accept-encoding"))];
    if request.get(header::IF_NONE_MATCH) == Some(&page.tag) {
        return (StatusCode::NOT_MODIFIED, HEADERS, common).into_response();
    }
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    match takes_gzip(&request) {
        true => {
            let encoding = [(header::CONTENT_ENCODING, "gzip")];
            (status, HEADERS, common, html, encoding, page.compressed.clone()).into_response()
        }
        false => (status, HEADERS, common, html, page.plain.clone()).into_response(),
    }
}

fn takes_gzip(request: &HeaderMap) -> bool {
    let encodings =
        request.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    encodings.split(',').any(|encoding| encoding.trim() == "gzip")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::{Body, to_bytes};
    use flate2::read::GzDecoder;
    use std::io::Read;
    use tower::ServiceExt;

    const PAGE: &str = "<!doctype html><html><head><title>guide</title></head></html>";

    /// Returns the answer to a request with these headers: status, headers, content.
    fn asked(method: &str, path: &str, headers: &[(HeaderName, &str)]) -> (StatusCode, HeaderMap, Vec<u8>) {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, "localhost:8317");
        for (name, value) in headers {
            request.headers_mut().unwrap().insert(name, value.parse().unwrap());
        }
        let request = request.body(Body::empty()).unwrap();
        runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            let (head, body) = site(PAGE).unwrap().oneshot(request).await.unwrap().into_parts();
            (head.status, head.headers, to_bytes(body, usize::MAX).await.unwrap().to_vec())
        })
    }

    #[test]
    fn every_page_is_the_page_and_knows_that_it_is_served() {
        for path in ["/", "/alltoall", "/alltoall/bruck?p=8&r=3", "/bcast/compare", "/bcast/own"] {
            let (status, headers, content) = asked("GET", path, &[]);
            assert_eq!(
                (status, &headers[header::CONTENT_TYPE]),
                (StatusCode::OK, &"text/html; charset=utf-8".parse().unwrap())
            );
            let expected = PAGE.replace("<head>", SERVED);
            assert_eq!(String::from_utf8(content).unwrap(), expected);
        }
    }

    #[test]
    fn unknown_pages_show_the_page_and_unknown_files_nothing() {
        let (status, _, content) = asked("GET", "/nowhere", &[]);
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert!(String::from_utf8(content).unwrap().contains("<title>guide"));
        let (status, _, content) = asked("GET", "/favicon.ico", &[]);
        assert_eq!((status, &content[..]), (StatusCode::NOT_FOUND, &b"There is no such file.\n"[..]));
        assert_eq!(asked("POST", "/", &[]).0, StatusCode::METHOD_NOT_ALLOWED);
        let (status, _, content) = asked("HEAD", "/", &[]);
        assert_eq!((status, content.len()), (StatusCode::OK, 0));
    }

    #[test]
    fn what_is_compressed_is_the_same() {
        let (_, headers, content) = asked("GET", "/", &[(header::ACCEPT_ENCODING, "br, gzip")]);
        assert_eq!(headers[header::CONTENT_ENCODING], "gzip");
        let mut text = String::new();
        GzDecoder::new(&content[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, PAGE.replace("<head>", SERVED));
    }

    #[test]
    fn who_has_the_page_gets_it_not_again() {
        let (_, headers, _) = asked("GET", "/", &[]);
        let tag = headers[header::ETAG].to_str().unwrap();
        let (status, _, content) = asked("GET", "/", &[(header::IF_NONE_MATCH, tag)]);
        assert_eq!((status, content.len()), (StatusCode::NOT_MODIFIED, 0));
    }

    #[test]
    fn other_names_of_this_machine_are_refused() {
        for (host, expected) in [
            ("localhost", StatusCode::OK),
            ("127.0.0.1:1", StatusCode::OK),
            ("[::1]", StatusCode::OK),
            ("[::1]:8317", StatusCode::OK),
            ("example.org", StatusCode::FORBIDDEN),
            ("localhost.example.org:8317", StatusCode::FORBIDDEN),
            ("127.0.0.1:8317:1", StatusCode::FORBIDDEN),
            ("", StatusCode::FORBIDDEN),
        ] {
            assert_eq!(asked("GET", "/", &[(header::HOST, host)]).0, expected, "{host}");
        }
        assert_eq!(asked("GET", "http://example.org/", &[]).0, StatusCode::FORBIDDEN);
    }
}
