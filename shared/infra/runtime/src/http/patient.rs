//! A connection whose peer has to read what it is sent.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Bytes that the peer has to take within the time.
const STEP_BYTES: usize = 64 * 1024;

/// Fails to write when the peer has kept it waiting for `timeout` in all without taking another [`STEP_BYTES`]. Only the time in which
/// there is something to write counts.
pub(super) struct WriteTimeoutStream<S> {
    stream: S,
    timeout: Duration,
    waited: Duration,
    written: usize,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<S> WriteTimeoutStream<S> {
    pub(super) const fn new(stream: S, timeout: Duration) -> Self {
        Self {
            stream,
            timeout,
            waited: Duration::ZERO,
            written: 0,
            waiting: None,
        }
    }

    fn track_write(
        &mut self,
        written: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.record_progress(bytes);
                Poll::Ready(Ok(bytes))
            }
            Poll::Pending => self.poll_timeout(context),
            failed => failed,
        }
    }

    fn record_progress(&mut self, bytes: usize) {
        if let Some((since, _)) = self.waiting.take() {
            self.waited += since.elapsed();
        }
        self.written += bytes;
        if self.written >= STEP_BYTES {
            (self.written, self.waited) = (0, Duration::ZERO);
        }
    }

    fn poll_timeout(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let left = self.timeout.saturating_sub(self.waited);
        let (_, alarm) = self
            .waiting
            .get_or_insert_with(|| (Instant::now(), Box::pin(sleep(left))));
        alarm
            .as_mut()
            .poll(context)
            .map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeoutStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.track_write(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.track_write(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::timeout;

    use super::*;

    const PAUSE: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_peer_that_takes_nothing_or_too_little_is_given_up() {
        let (stream, mut peer) = duplex(1024);
        let mut patient = WriteTimeoutStream::new(stream, Duration::from_millis(200));
        let trickle = tokio::spawn(async move {
            // A byte now and then is no progress.
            while peer.read_u8().await.is_ok() {
                sleep(Duration::from_millis(10)).await;
            }
        });
        let written = patient.write_all(&vec![0; 10 * STEP_BYTES]).await;
        assert_eq!(
            written.map_err(|error| error.kind()),
            Err(io::ErrorKind::TimedOut)
        );
        drop(patient);
        assert!(trickle.await.is_ok());
    }

    /// Writes until the peer takes no more.
    async fn fill_peer(patient: &mut WriteTimeoutStream<DuplexStream>) {
        let more = vec![0; 2 * STEP_BYTES];
        assert!(
            timeout(PAUSE, patient.write_all(&more)).await.is_err(),
            "the peer has taken all"
        );
    }

    #[tokio::test]
    async fn the_time_of_a_peer_begins_anew_with_each_step_and_idleness_does_not_count() {
        let (stream, mut peer) = duplex(STEP_BYTES);
        let mut patient = WriteTimeoutStream::new(stream, Duration::from_secs(30));
        fill_peer(&mut patient).await;
        peer.read_u8().await.unwrap();
        fill_peer(&mut patient).await;
        assert_ne!(patient.waited, Duration::ZERO, "a byte is no step");
        let mut step = vec![0; STEP_BYTES];
        peer.read_exact(&mut step).await.unwrap();
        patient.write_all(&step[1..]).await.unwrap();
        assert_eq!(patient.waited, Duration::ZERO, "it has taken a step");
        assert!(
            patient.waiting.is_none(),
            "nothing to write is nothing to wait for"
        );
        sleep(PAUSE).await;
        patient.write_all(&step[..1]).await.unwrap();
        assert_eq!(patient.waited, Duration::ZERO, "nobody was waited for");
    }
}
