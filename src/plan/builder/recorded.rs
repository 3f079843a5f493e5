//! Operators of [`op::aclnn`](crate::op::aclnn) in a plan: the builder stands where a stream does, and values where
//! tensors do.

use crate::error::Result;
use crate::op::{Call, Described, Destination, Place, Record, Token, View};

use super::{Builder, Value};

impl Described for Value {
    #[allow(private_interfaces)]
    fn view(&self) -> Option<View<'_>> {
        None
    }

    fn token(&self) -> Option<Token> {
        Some(Token { owner: self.plan, index: self.index, version: self.version })
    }
}

impl From<Token> for Value {
    fn from(token: Token) -> Self {
        Self { plan: token.owner, index: token.index, version: token.version }
    }
}

impl Destination for Builder {
    fn place(&self) -> Place<'_> {
        Place::Recorder(self)
    }
}

impl Record for Builder {
    #[allow(private_interfaces)]
    fn record(&self, call: &Call<'_>) -> Result<()> {
        self.state().record_call(call, &[])
    }
}
