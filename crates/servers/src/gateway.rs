//! Somebody who stands in front of a server and takes requests one by one.

use crate::http::Message;
use std::io::{self, BufReader};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How long either side may be silent in the middle of something.
const SILENCE: Duration = Duration::from_secs(60);

/// What becomes of a request.
pub(crate) enum Reply {
    /// This is the answer.
    Whole(Message),
    /// Only so many bytes of the answer arrive, then the connection ends.
    Part(Message, usize),
    /// The connection ends without an answer.
    Nothing,
}

/// Decides about requests.
pub(crate) trait Gate: Send + Sync + 'static {
    /// What becomes of a request. `server` carries it on.
    fn pass(&self, request: Message, server: &mut Upstream) -> io::Result<Reply>;
}

/// The connection to the server behind.
pub(crate) struct Upstream {
    port: u16,
    stream: Option<BufReader<TcpStream>>,
}

impl Upstream {
    /// Sends a request to the server and waits for its answer. A connection that the server has ended since the last
    /// request is made anew.
    pub(crate) fn ask(&mut self, request: &Message) -> io::Result<Message> {
        if let Some(stream) = self.stream.take()
            && let Ok(answer) = self.ask_on(stream, request)
        {
            return Ok(answer);
        }
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
        self.ask_on(BufReader::new(stream), request)
    }

    fn ask_on(&mut self, mut stream: BufReader<TcpStream>, request: &Message) -> io::Result<Message> {
        request.write(&mut stream.get_ref())?;
        let answer = Message::answer(&mut stream, request.word(0))?;
        let ends = answer.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        self.stream = (!ends).then_some(stream);
        Ok(answer)
    }
}

/// Listens in front of a server for as long as the process lives; gives the port.
pub(crate) fn stand_before(port: u16, gate: Arc<impl Gate>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let own = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let gate = Arc::clone(&gate);
            std::thread::spawn(move || {
                // Whoever is cut off notices by itself.
                let _ = serve(&stream, &*gate, port);
                let _ = stream.shutdown(Shutdown::Both);
            });
        }
    });
    own
}

fn serve(stream: &TcpStream, gate: &impl Gate, port: u16) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut upstream = Upstream { port, stream: None };
    let mut from = BufReader::new(stream);
    while let Some(request) = Message::request(&mut from, &mut &*stream)? {
        match gate.pass(request, &mut upstream)? {
            Reply::Whole(answer) => answer.write(&mut &*stream)?,
            Reply::Part(answer, length) => {
                let mut bytes = Vec::new();
                answer.write(&mut bytes)?;
                io::Write::write_all(&mut &*stream, &bytes[..length.min(bytes.len())])?;
                return Ok(());
            }
            Reply::Nothing => return Ok(()),
        }
    }
    Ok(())
}
