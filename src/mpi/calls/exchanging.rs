//! Calls in two stages: the ranks exchange lengths, then each plans how the data move.

use super::arguments::Arguments;
use crate::engine::{DataPlan, LengthExchange, Plan};
use crate::mpi::messages::channel::Channel;
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::{Layout, Task, Work, Wrapping};
use crate::mpi::shim::bindings::{RUSTCOLL_ERR_NO_MEM, RUSTCOLL_ERR_TRUNCATE, rustcoll_shim_abort};
use std::ffi::CStr;
use std::ptr;
use std::slice;
use std::sync::Arc;

/// No process has room for a longer block, and sums of such lengths do not overflow. Only a stray message of an erroneous
/// program tells of one.
const LONGEST: u64 = 1 << 47;

/// A call on its way.
pub struct Exchanging {
    exchange: Arc<LengthExchange>,
    /// The arguments of the first stage.
    numbers: Arguments,
    /// How the memory of the first stage lies.
    layout: Layout,
    /// The second stage, once it is known.
    data: Option<(Arc<DataPlan>, Layout)>,
    /// The most bytes of temporary memory.
    scratch_limit: usize,
}

impl Exchanging {
    /// A call that has not begun.
    pub fn new(exchange: &Arc<LengthExchange>, scratch_limit: usize) -> Exchanging {
        let numbers = Arguments::of_numbers(ptr::null_mut(), 0);
        let layout = Layout::new(&exchange.plan, &numbers);
        Exchanging { exchange: Arc::clone(exchange), numbers, layout, data: None, scratch_limit }
    }

    /// Begins anew. An error leaves nothing outstanding.
    pub fn begin(&mut self, work: &mut Work) -> Result<(), Error> {
        let LengthExchange { plan, numbers, .. } = &*self.exchange;
        let copied = work.numbers(numbers).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        self.numbers = Arguments::of_numbers(copied, numbers.len());
        self.data = None;
        work.begin(plan, &Wrapping::default())
    }

    /// Goes on to the end.
    pub fn finish(&mut self, work: &mut Work, channel: &Channel, arguments: &Arguments) -> Result<(), Error> {
        self.drive(work, channel, arguments, |work, task| work.finish(task, None).map(|()| true))?;
        Ok(())
    }

    /// Goes on as far as it can without waiting; says whether it came to the end.
    pub fn advance(
        &mut self,
        work: &mut Work,
        channel: &Channel,
        arguments: &Arguments,
    ) -> Result<bool, Error> {
        self.drive(work, channel, arguments, Work::advance)
    }

    /// Goes on with the stage that is under way, and from the first to the second. A block that was too long is an error
    /// when all is over, lest other ranks wait for what goes through this one.
    fn drive(
        &mut self,
        work: &mut Work,
        channel: &Channel,
        arguments: &Arguments,
        go: impl Fn(&mut Work, &Task) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let (wrapping, numbers) = (&Wrapping::default(), &self.numbers);
        let lengths =
            Task { plan: &self.exchange.plan, layout: &self.layout, channel, arguments: numbers, wrapping };
        let (data, layout) = match &self.data {
            Some(data) => data,
            None if !go(work, &lengths)? => return Ok(false),
            None => {
                if self.learnt().iter().any(|&length| length > LONGEST) {
                    end_the_job(
                        channel,
                        c"rustcoll: a rank told of a block that no memory holds; ending the job",
                    );
                }
                let data = self.exchange.data(self.learnt());
                let layout = Layout::new(&data.plan, arguments);
                self.obtain(work, channel, &data.plan, &layout, arguments);
                work.begin(&data.plan, wrapping)?;
                self.data.insert((data, layout))
            }
        };
        match go(work, &Task { plan: &data.plan, layout, channel, arguments, wrapping })? {
            true if data.is_truncated => Err(RUSTCOLL_ERR_TRUNCATE),
            ended => Ok(ended),
        }
    }

    /// Obtains the memory of the second stage, of which nobody knew before. The other ranks have this one's lengths and
    /// count on it, so it goes past the limit, and where there is no memory the job ends.
    fn obtain(
        &self,
        work: &mut Work,
        channel: &Channel,
        plan: &Plan,
        layout: &Layout,
        arguments: &Arguments,
    ) {
        let (needed, limit) = (layout.bytes(), self.scratch_limit);
        let collective = arguments.collective.name();
        if needed > limit {
            log::error!(
                "{collective}: the blocks that pass through here take {needed} bytes of temporary memory; \
                 the limit is {limit}, but the ranks have begun"
            );
        }
        if work.reserve(plan, layout).is_err() {
            end_the_job(
                channel,
                c"rustcoll: no memory for blocks whose lengths the ranks have exchanged; ending the job",
            );
        }
    }

    /// What the first stage left behind.
    fn learnt(&self) -> &[u64] {
        let numbers = self.numbers.recv.base().cast::<u64>();
        // SAFETY: a copy of as many numbers stands there since the call began, and no message writes it any more.
        unsafe { slice::from_raw_parts(numbers, self.exchange.numbers.len()) }
    }
}

/// For when other ranks would wait for this one.
fn end_the_job(channel: &Channel, message: &CStr) {
    // SAFETY: the handle is that of the call's communicator.
    unsafe { rustcoll_shim_abort(channel.other.communicator, message.as_ptr()) };
}
