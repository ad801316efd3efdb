use super::{EventStream, EventStreamError};
use crate::proto::pulumirpc::{
    EventRequest,
    events_server::{Events, EventsServer},
};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status, Streaming, transport::Server};

#[derive(Clone, Default)]
struct Driver {
    seen: Arc<Mutex<Vec<String>>>,
    /// After how many events it fails.
    patience: Option<usize>,
}

#[tonic::async_trait]
impl Events for Driver {
    async fn stream_events(&self, request: Request<Streaming<EventRequest>>) -> Result<Response<()>, Status> {
        let mut events = request.into_inner();
        while let Some(event) = events.message().await? {
            self.seen.lock().unwrap().push(event.event);
            if Some(self.seen.lock().unwrap().len()) == self.patience {
                return Err(Status::aborted("enough"));
            }
        }
        self.seen.lock().unwrap().push("end".to_owned());
        Ok(Response::new(()))
    }
}

async fn serve(driver: Driver) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = format!("tcp://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let incoming = TcpListenerStream::new(listener);
        Server::builder().add_service(EventsServer::new(driver)).serve_with_incoming(incoming).await
    });
    target
}

#[tokio::test]
async fn every_event_arrives_in_order_before_the_end() {
    let driver = Driver::default();
    let stream = EventStream::open(&serve(driver.clone()).await).await.unwrap();
    for number in 0..1000 {
        stream.send(format!("{{\"sequence\":{number}}}"));
    }
    stream.close().await.unwrap();
    let seen = driver.seen.lock().unwrap();
    assert_eq!(seen.len(), 1001);
    assert_eq!(seen[999], r#"{"sequence":999}"#);
    assert_eq!(seen[1000], "end");
}

#[tokio::test]
async fn a_stream_without_events_ends_too() {
    let driver = Driver::default();
    EventStream::open(&serve(driver.clone()).await).await.unwrap().close().await.unwrap();
    assert_eq!(*driver.seen.lock().unwrap(), ["end"]);
}

#[tokio::test]
async fn a_broken_stream_is_told_at_the_end() {
    let driver = Driver { patience: Some(1), ..Driver::default() };
    let stream = EventStream::open(&serve(driver).await).await.unwrap();
    stream.send("a".into());
    stream.send("b".into());
    let error = stream.close().await.unwrap_err();
    assert!(matches!(&error, EventStreamError::Broken(message) if message == "enough"), "{error}");
}

#[tokio::test]
async fn addresses_that_are_none_or_dead_are_named() {
    assert!(EventStream::is_address("tcp://127.0.0.1:1") && !EventStream::is_address("events.log"));
    assert!(matches!(EventStream::open("tcp://nowhere").await, Err(EventStreamError::Address(_))));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = EventStream::open(&format!("tcp://{address}")).await.unwrap_err();
    assert_eq!(error.to_string(), format!("nobody takes events at {address}"));
}
